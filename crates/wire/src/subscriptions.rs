//! Subscriptions to iCal feeds, and imports of files.

use std::borrow::Cow;

use kalends_feeds::{
    self as domain, LABEL_MAX, NewSubscription, Remains, SubscriptionPatch, SubscriptionStatus,
    sync::{Counts, SyncDetails},
};
use kalends_kernel::{
    AgentId, CalendarId, FieldError, FieldErrors, Page, RemoteUrl, SubscriptionId, Timestamp, bounded_text,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::{
    IntoParams, ToSchema,
    openapi::{
        Schema,
        schema::{ObjectBuilder, Type},
    },
};

use crate::{
    patch::{Given, given, nothing_to_change, set, set_or_clear},
    schemas::{SubscriptionStatusName, SyncingStatus, WantedSubscriptionStatus},
};

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
    /// The event's `UID`, as far as it could be read.
    pub uid: String,
    /// The reason.
    pub reason: String,
}

impl From<(String, String)> for SkippedEvent {
    fn from((uid, reason): (String, String)) -> Self {
        Self { uid, reason }
    }
}

impl From<domain::sync::Report> for SyncReport {
    fn from(report: domain::sync::Report) -> Self {
        let domain::sync::Report { counts, skipped, withheld, told: SyncDetails { skipped: first, warnings } } = report;
        let Counts { created, updated, deleted, untouched } = counts;
        let skipped_events = first.into_iter().map(SkippedEvent::from).collect();
        Self { created, updated, deleted, untouched, skipped, withheld, skipped_events, warnings }
    }
}

impl From<&domain::Subscription> for Subscription {
    fn from(subscription: &domain::Subscription) -> Self {
        Self {
            id: subscription.id,
            agent_id: subscription.agent,
            calendar_id: subscription.calendar,
            url: subscription.url.as_str().to_owned(),
            label: subscription.label.clone(),
            status: subscription.status().as_str().into(),
            last_synced_at: subscription.state.last_synced_at,
            last_error: subscription.state.last_error.clone(),
            last_sync: subscription.state.memory.report.clone().map(SyncReport::from),
            created_at: subscription.created_at,
            updated_at: subscription.updated_at,
        }
    }
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

/// `events`: leave them as they are.
const KEEP: &str = "keep";
/// `events`: delete them too.
const DELETE: &str = "delete";

/// The values of `events`. No body contains them, so they are not among the schemas of the components and are written
/// here.
fn remains() -> Schema {
    let values = ObjectBuilder::new().schema_type(Type::String).enum_values(Some([KEEP, DELETE]));
    values.default(Some(json!(KEEP))).build().into()
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

impl DeleteSubscription {
    /// Parses the option.
    ///
    /// # Errors
    /// Names the parameter and its allowed values.
    pub fn parse(&self) -> Result<Remains, FieldError> {
        match self.events.as_deref() {
            None | Some(KEEP) => Ok(Remains::Kept),
            Some(DELETE) => Ok(Remains::Removed),
            Some(other) => Err(FieldError::new("events", format!("must be {KEEP} or {DELETE}, got {other:?}"))),
        }
    }
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
}

fn label(text: &str) -> Result<String, FieldError> {
    bounded_text("label", text, 1, LABEL_MAX)
}

impl CreateSubscription {
    /// Checks every field. `exempt` decides which private host and port may be reached anyway.
    ///
    /// # Errors
    /// Lists every invalid field.
    pub fn parse(self, exempt: impl Fn(&str, u16) -> bool) -> Result<(String, NewSubscription), FieldErrors> {
        let mut errors = FieldErrors::default();
        let url = errors.take(RemoteUrl::parse("url", &self.url, exempt));
        let label = errors.take(self.label.as_deref().map(label).transpose());
        match (url, label) {
            (Some(url), Some(label)) => Ok((self.calendar_id, NewSubscription { url, label })),
            _ => Err(errors),
        }
    }
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
}

/// Whether the status in a PATCH pauses the subscription. A caller cannot set `error`.
fn paused(status: &str) -> Result<bool, FieldError> {
    match SubscriptionStatus::from_name(status) {
        Some(SubscriptionStatus::Paused) => Ok(true),
        Some(SubscriptionStatus::Active) => Ok(false),
        Some(SubscriptionStatus::Error) | None => {
            Err(FieldError::new("status", format!("must be paused or active, got {status:?}")))
        }
    }
}

impl UpdateSubscription {
    /// Whether the request sets the address to null.
    pub const fn clears_url(&self) -> bool {
        matches!(self.url, Some(None))
    }

    /// Checks every field. `exempt` decides which private host and port may be reached anyway.
    ///
    /// # Errors
    /// Lists every invalid field, or reports that no field was sent.
    pub fn parse(self, exempt: impl Fn(&str, u16) -> bool) -> Result<SubscriptionPatch, FieldErrors> {
        let mut errors = FieldErrors::default();
        let url = errors.take(set("url", self.url, |url| RemoteUrl::parse("url", &url, exempt)));
        let label = errors.take(set_or_clear(self.label, |text| label(&text)));
        let paused = errors.take(set("status", self.status, |status| paused(&status)));
        let (Some(url), Some(label), Some(paused)) = (url, label, paused) else { return Err(errors) };
        let patch = SubscriptionPatch { url, label, paused };
        if patch == SubscriptionPatch::default() {
            return Err(nothing_to_change("url, label, status").into());
        }
        Ok(patch)
    }
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

impl ListSubscriptions {
    /// Checks every parameter.
    ///
    /// # Errors
    /// Lists every invalid parameter.
    pub fn parse(self) -> Result<(Option<SubscriptionStatus>, Page), FieldErrors> {
        let mut errors = FieldErrors::default();
        let status = self.status.map(|name| {
            SubscriptionStatus::from_name(&name)
                .ok_or_else(|| FieldError::new("status", format!("must be active, error or paused, got {name:?}")))
        });
        let status = errors.take(status.transpose());
        let page = match Page::parse(self.limit, self.offset) {
            Ok(page) => Some(page),
            Err(wrong) => {
                errors.extend(&wrong);
                None
            }
        };
        match (status, page) {
            (Some(status), Some(page)) => Ok((status, page)),
            _ => Err(errors),
        }
    }
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
}

impl From<domain::sync::Report> for ImportReport {
    fn from(report: domain::sync::Report) -> Self {
        let SyncReport { created, updated, untouched, skipped, skipped_events, warnings, .. } = report.into();
        Self { created, updated, untouched, skipped, skipped_events, warnings }
    }
}
