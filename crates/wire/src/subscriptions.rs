//! Subscriptions to iCal feeds, and imports of files.

use std::borrow::Cow;

use kalends_kernel::{AgentId, CalendarId, SubscriptionId};
use kalends_time::Timestamp;
use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use serde_json::json;
#[cfg(feature = "schema")]
use utoipa::openapi::{
    Schema,
    schema::{ObjectBuilder, Type},
};

#[cfg(feature = "schema")]
use crate::schemas::{SubscriptionStatusName, SyncingStatus, WantedSubscriptionStatus};
use crate::{
    Conflict,
    derives::{IntoParams, ToSchema},
    patch::{Given, given},
};

#[cfg(feature = "parse")]
mod parse;

/// The value of `events` that leaves the imported events as they are.
#[cfg(feature = "parse")]
const KEEP: &str = "keep";

/// The value of `events` that deletes the imported events too.
#[cfg(feature = "parse")]
const DELETE: &str = "delete";

/// The schema of `events`. No body contains this field, so its schema is not among the components and is written here.
#[cfg(feature = "schema")]
fn remains() -> Schema {
    let values = ObjectBuilder::new().schema_type(Type::String).enum_values(Some([KEEP, DELETE]));
    values.default(Some(json!(KEEP))).build().into()
}

/// A calendar's subscription to a feed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "id": "isub_01jn8r6v9ke0bt3m5qz2c7xwdh", "agent_id": "agt_01jn8r6v9ke0bt3m5qz2c7xwdh",
    "calendar_id": "cal_01jn8r6v9ke0bt3m5qz2c7xwdh", "url": "https://example.com/work.ics", "label": "Work",
    "status": "active", "last_synced_at": "2026-03-02T08:00:00Z", "last_error": null, "last_sync": {
        "created": 12, "updated": 1, "deleted": 0, "untouched": 230, "skipped": 1, "withheld": 0,
        "skipped_events": [{ "uid": "a@example.com", "reason": "it has no DTSTART" }], "warnings": []
    },
    "created_at": "2026-03-02T08:00:00Z", "updated_at": "2026-03-02T08:00:00Z"
}))]
pub struct Subscription {
    /// The identifier, `isub_…`.
    #[schema(value_type = String)]
    pub id: SubscriptionId,
    /// The agent that owns the calendar.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// The calendar that the feed's events are imported into.
    #[schema(value_type = String)]
    pub calendar_id: CalendarId,
    /// The address of the feed.
    pub url: String,
    /// The label.
    pub label: Option<String>,
    /// The status: `active`, `error` (the last sync failed) or `paused`.
    #[schema(value_type = SubscriptionStatusName)]
    pub status: Cow<'static, str>,
    /// True if only the times of the feed's events are imported, under the title `Busy`. Otherwise absent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schema(nullable = false)]
    pub busy_only: bool,
    /// When a sync last succeeded. Null before the first one.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_synced_at: Option<Timestamp>,
    /// The error of the last sync. Null if it succeeded.
    pub last_error: Option<String>,
    /// The result of the last successful sync. Null before the first one.
    pub last_sync: Option<SyncReport>,
    /// When the subscription was created.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When the subscription was last changed. Syncs do not count as changes.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

/// The result of a sync.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SyncReport {
    /// The number of new events.
    pub created: u32,
    /// The number of changed events.
    pub updated: u32,
    /// The number of events that were deleted because the feed no longer contains them.
    pub deleted: u32,
    /// The number of unchanged events.
    pub untouched: u32,
    /// The number of events that could not be imported.
    pub skipped: u32,
    /// The number of events that are missing from a feed that shrank by more than half. They are deleted only if they
    /// are missing from the next fetch too.
    pub withheld: u32,
    /// The first 100 events that could not be imported.
    pub skipped_events: Vec<SkippedEvent>,
    /// The first 100 warnings about events that could be imported only in part.
    pub warnings: Vec<String>,
}

/// An event that could not be imported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SkippedEvent {
    /// The event's `UID`, as far as it could be read. Empty if the subscription is `busy_only`.
    pub uid: String,
    /// The reason.
    pub reason: String,
}

/// The answer to a request for a sync.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Syncing {
    /// Always `syncing`.
    #[schema(value_type = SyncingStatus, example = "syncing")]
    pub status: Cow<'static, str>,
}

impl Default for Syncing {
    fn default() -> Self {
        Self { status: "syncing".into() }
    }
}

/// The options of a deletion.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DeleteSubscription {
    /// What happens to the imported events: `keep` (the default) leaves them as they are, `delete` deletes them too.
    #[param(schema_with = remains, required = false)]
    pub events: Option<String>,
}

/// The fields of a new subscription.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "calendar_id": "cal_01jn8r6v9ke0bt3m5qz2c7xwdh", "url": "https://example.com/work.ics", "label": "Work"
}))]
pub struct CreateSubscription {
    /// A calendar that an agent owns, `cal_…`.
    pub calendar_id: String,
    /// An https URL on the public internet without credentials, at most 2,048 characters long.
    #[schema(format = "uri", max_length = 2048)]
    pub url: String,
    /// A label, 1-255 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 255)]
    pub label: Option<String>,
    /// Whether to import only the times of the feed's events. Titles, descriptions, locations and all other texts are
    /// dropped when the feed is read, and are never stored. Each event has the title `Busy`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub busy_only: bool,
}

/// The fields of a subscription that a PATCH can change. At least one is required.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "status": "paused" }))]
pub struct UpdateSubscription {
    /// An https URL on the public internet without credentials, at most 2,048 characters long.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false, format = "uri", max_length = 2048)]
    pub url: Given<String>,
    /// A label, 1-255 characters. Null clears it.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 255)]
    pub label: Given<String>,
    /// The new status: `paused` or `active`.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<WantedSubscriptionStatus>, nullable = false)]
    pub status: Given<String>,
    /// Whether to import only the times of the feed's events. A change makes the subscription due at once. The next sync
    /// drops the stored texts, or imports them again.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<bool>, nullable = false)]
    pub busy_only: Given<bool>,
}

/// Filters a list of subscriptions.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListSubscriptions {
    /// Only subscriptions with this status.
    #[param(value_type = Option<SubscriptionStatusName>)]
    pub status: Option<String>,
    /// The maximum number of entries per page, 1-200. Defaults to 50.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<i64>,
    /// The number of entries to skip.
    #[param(minimum = 0)]
    pub offset: Option<i64>,
}

/// The result of an import of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ImportReport {
    /// The number of new events.
    pub created: u32,
    /// The number of events that an earlier import created and that have changed in the file since.
    pub updated: u32,
    /// The number of events that an earlier import created and that have not changed in the file.
    pub untouched: u32,
    /// The number of events that could not be imported.
    pub skipped: u32,
    /// The first 100 events that could not be imported.
    pub skipped_events: Vec<SkippedEvent>,
    /// The first 100 warnings about events that could be imported only in part.
    pub warnings: Vec<String>,
    /// The first 100 events that were not imported because the calendar refuses conflicts and something else blocks
    /// their time. A series and its changed occurrences are one entry. Absent if there are none. The next import of the
    /// file tries them again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedEvent>,
    /// The number of refused events, each series counted once. Absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub refused_count: Option<u32>,
}

/// An event of a file whose time is taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RefusedEvent {
    /// The event's `UID`.
    pub uid: String,
    /// The start of what meets something else: the event, the first occurrence of the series, or one of its changed
    /// occurrences.
    #[schema(value_type = String, format = DateTime)]
    pub start_time: Timestamp,
    /// What blocks the time, sorted by start: at most 20.
    pub conflicts: Vec<Conflict>,
}
