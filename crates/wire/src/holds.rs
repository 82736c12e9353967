//! Holds and hold sets.

use kalends_kernel::{CalendarId, HoldSetId};
use kalends_time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    Event, EventStatus, HoldEnd, ReasonKind,
    derives::{IntoParams, ToSchema},
};

#[cfg(feature = "parse")]
mod parse;
#[cfg(feature = "parse")]
pub use parse::NewHoldSet;
#[cfg(feature = "parse")]
pub(crate) use parse::{hold, hold_expiry, state_seen};

/// The fields of a new hold set. Either all of its holds are placed or none.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "title": "Kick-off", "start_time": "2026-03-02T10:00:00+01:00", "end_time": "2026-03-02T11:00:00+01:00",
    "calendar_ids": ["cal_01jn8r7d2xe9tvn4a6k8m0pqrs", "cal_01jn8r7d2xe9tvn4a6k8m0pqrt"],
    "hold_expires_at": "2026-03-01T10:05:00Z", "hold_priority": 10
}))]
pub struct CreateHoldSet {
    /// The title of every hold, 1-500 characters.
    #[schema(min_length = 1, max_length = 500)]
    pub title: String,
    /// The start. RFC 3339 with an offset.
    #[schema(format = DateTime)]
    pub start_time: String,
    /// The end, exclusive. RFC 3339 with an offset.
    #[schema(format = DateTime)]
    pub end_time: String,
    /// The calendars, without duplicates: together with `agent_ids` 1-20.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, max_items = 20)]
    pub calendar_ids: Vec<String>,
    /// Agents that have exactly one calendar each, without duplicates. Each of them gets a hold on its calendar.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, max_items = 20)]
    pub agent_ids: Vec<String>,
    /// When the holds expire: 30 seconds to 15 minutes from now, or up to 7 days on a plan with long holds.
    #[schema(format = DateTime)]
    pub hold_expires_at: String,
    /// The priority of the holds. Defaults to 0. The holds pre-empt overlapping holds of a lower priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 100)]
    pub hold_priority: Option<i64>,
    /// The `as_of` of an availability answer. It works as in the creation of an event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_as_of: Option<String>,
}

/// What the confirmation of a hold, or of a hold set, depends on.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "if_as_of": "AQEBlVGDtF1ydbqRRpooC18ZKgA" }))]
pub struct ConfirmHold {
    /// The `as_of` of an availability answer. It works as in the creation of an event. The hold itself and the other
    /// events of its hold set do not count as changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_as_of: Option<String>,
}

/// Holds that were placed together.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct HoldSet {
    /// The identifier, `hst_…`.
    #[schema(value_type = String)]
    pub id: HoldSetId,
    /// The holds, one per calendar, in their current state.
    pub holds: Vec<Event>,
}

/// Filters a list of hold sets.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListHoldSets {
    /// Only sets with at least one event that has this status. `hold` selects the sets that can still be released.
    pub status: Option<EventStatus>,
    /// The maximum number of entries per page, 1-200.
    #[param(minimum = 1, maximum = 200, default = 50)]
    pub limit: Option<i64>,
    /// The number of entries to skip.
    #[param(minimum = 0, default = 0)]
    pub offset: Option<i64>,
}

/// A hold that expired or was pre-empted: the payload of `event.hold_expired`.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct EndedHold {
    /// The cancelled event.
    #[serde(flatten)]
    pub event: Event,
    /// Why it ended.
    pub reason: HoldEnd,
}

/// What blocks the time of a hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Conflict {
    /// The blocked calendar, `cal_…`.
    #[schema(value_type = String)]
    pub calendar_id: CalendarId,
    /// What blocks it.
    pub kind: ReasonKind,
    /// The start of what blocks it.
    #[schema(value_type = String, format = DateTime)]
    pub start: Timestamp,
    /// The end of what blocks it.
    #[schema(value_type = String, format = DateTime)]
    pub end: Timestamp,
}
