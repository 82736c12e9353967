//! Calendars.

use std::borrow::Cow;

use kalends_kernel::{AgentId, CalendarId, OrgId};
use kalends_time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    AgentActivity, Conflicts, Provider, RecurrenceDefault,
    derives::{IntoParams, ToSchema},
    patch::{Given, given},
};

#[cfg(feature = "parse")]
mod parse;

/// A calendar.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "id": "cal_01jn8r7d2xe9tvn4a6k8m0pqrs", "orgId": "org_01jn8r6v9ke0bt3m5qz2c7xwdg",
    "agentId": "agt_01jn8r6v9ke0bt3m5qz2c7xwdh", "name": "Work", "timezone": "Europe/Berlin", "metadata": {},
    "externalId": null, "provider": null, "deletedAt": null, "createdAt": "2026-03-02T08:00:00Z",
    "updatedAt": "2026-03-02T08:00:00Z", "agent_status": "idle", "default_reminders": null,
    "ical_url": "https://calendar.example.com/ical/2vJ0kq7nW8yXb3TzLr5cPQ.ics"
}))]
pub struct Calendar {
    /// The identifier, `cal_…`.
    #[schema(value_type = String)]
    pub id: CalendarId,
    /// The owning organization, `org_…`.
    #[schema(value_type = String)]
    pub org_id: OrgId,
    /// The owning agent. Null for a calendar that the organization shares.
    #[schema(value_type = Option<String>)]
    pub agent_id: Option<AgentId>,
    /// The name, 1-255 characters.
    pub name: String,
    /// The IANA time zone.
    pub timezone: Cow<'static, str>,
    /// Your own data.
    #[schema(value_type = Object)]
    pub metadata: Map<String, Value>,
    /// The provider's identifier of a bridged calendar. Otherwise null.
    pub external_id: Option<String>,
    /// The provider of a bridged calendar. Otherwise null.
    pub provider: Option<Provider>,
    /// When the calendar was deleted. Null if it was not.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub deleted_at: Option<Timestamp>,
    /// When the calendar was created.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When the calendar was last changed.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
    /// The activity that the agent reports.
    #[serde(rename = "agent_status")]
    pub agent_status: AgentActivity,
    /// The reminders that events inherit, in minutes before the start. Null means one reminder, 10 minutes before the
    /// start; an empty list means none.
    #[serde(rename = "default_reminders")]
    pub default_reminders: Option<Vec<u16>>,
    /// Whether events may overlap. Only on calendars that refuse it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub conflicts: Option<Conflicts>,
    /// The zone that a series follows if its request names none. Absent if the calendar has the service's default.
    #[serde(rename = "recurrence_default", skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub recurrence_default: Option<RecurrenceDefault>,
    /// The address of the calendar's public feed.
    #[serde(rename = "ical_url")]
    pub ical_url: String,
}

/// A calendar, or only its name if the key sees no more of it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum ShownCalendar {
    /// The whole calendar.
    Whole(Box<Calendar>),
    /// The name of a shared calendar, for an agent's key with the scope `directory:org`.
    Name(CalendarName),
}

impl ShownCalendar {
    /// The identifier.
    pub fn id(&self) -> CalendarId {
        match self {
            Self::Whole(calendar) => calendar.id,
            Self::Name(calendar) => calendar.id,
        }
    }

    /// The name.
    pub fn name(&self) -> &str {
        match self {
            Self::Whole(calendar) => &calendar.name,
            Self::Name(calendar) => &calendar.name,
        }
    }

    /// The whole calendar; `None` if the key sees only its name.
    pub fn whole(&self) -> Option<&Calendar> {
        match self {
            Self::Whole(calendar) => Some(calendar),
            Self::Name(_) => None,
        }
    }
}

/// The name of a calendar that the organization shares.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "id": "cal_01jn8r7d2xe9tvn4a6k8m0pqrs", "name": "Meeting room", "timezone": "Europe/Berlin"
}))]
pub struct CalendarName {
    /// The identifier, `cal_…`.
    #[schema(value_type = String)]
    pub id: CalendarId,
    /// The name.
    pub name: String,
    /// The IANA time zone.
    pub timezone: Cow<'static, str>,
}

/// The fields of a new calendar.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "name": "Work", "timezone": "Europe/Berlin", "default_reminders": [15] }))]
pub struct CreateCalendar {
    /// A name, 1-255 characters.
    #[schema(min_length = 1, max_length = 255)]
    pub name: String,
    /// An IANA time zone, such as `Europe/Berlin`.
    pub timezone: String,
    /// What the agent is doing. Defaults to `idle`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_status: Option<AgentActivity>,
    /// Up to 5 default reminders, each 1-40320 minutes before the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 5)]
    pub default_reminders: Option<Vec<i64>>,
    /// Whether events may overlap. Defaults to `allow`. With `refuse`, a request is 409 `slot_taken` if its event would
    /// block new time that something else blocks. An import of a file leaves such events out, and subscriptions are
    /// never refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conflicts: Option<Conflicts>,
    /// The zone that a series follows if its request names none: `utc`, or `calendar` for the calendar's zone.
    /// Defaults to the service's setting, which is `utc` unless the operator has changed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recurrence_default: Option<RecurrenceDefault>,
    /// Your own data: an object of at most 16,384 bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Value>,
}

/// The fields of a calendar that a PATCH can change. At least one is required.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "agent_status": "working" }))]
pub struct UpdateCalendar {
    /// A new name, 1-255 characters.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false, min_length = 1, max_length = 255)]
    pub name: Given<String>,
    /// An IANA time zone.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    pub timezone: Given<String>,
    /// What the agent is doing.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<AgentActivity>, nullable = false)]
    pub agent_status: Given<AgentActivity>,
    /// Up to 5 default reminders. Null restores the default: one reminder, 10 minutes before the start.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<i64>>, max_items = 5)]
    pub default_reminders: Given<Vec<i64>>,
    /// Whether events may overlap from now on. Events that overlap already stay as they are.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Conflicts>, nullable = false)]
    pub conflicts: Given<Conflicts>,
    /// The zone that new series follow if their request names none. Null restores the service's default. Existing
    /// series stay as they are.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<RecurrenceDefault>)]
    pub recurrence_default: Given<RecurrenceDefault>,
    /// Replaces the metadata as a whole.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>, nullable = false)]
    pub metadata: Given<Value>,
}

/// Which calendars a list contains in addition to those of agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum IncludeCalendars {
    /// The calendars that the organization shares.
    All,
}

/// Selects the calendars of a list. By default, it contains those that agents own.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListCalendars {
    /// `all` adds the calendars that the organization shares.
    pub include: Option<IncludeCalendars>,
    /// The maximum number of entries per page, 1-200.
    #[param(minimum = 1, maximum = 200, default = 50)]
    pub limit: Option<i64>,
    /// The number of entries to skip.
    #[param(minimum = 0, default = 0)]
    pub offset: Option<i64>,
}

/// The options of a deletion.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DeleteCalendar {
    /// Whether to refuse the deletion if the calendar still has events.
    #[param(default = false)]
    pub if_empty: Option<bool>,
}
