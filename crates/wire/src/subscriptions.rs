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

/// A subscription of a calendar to a feed.
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
    /// `isub_…`
    #[schema(value_type = String)]
    pub id: SubscriptionId,
    /// The agent that owns the calendar.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// Onto which calendar the feed's events are imported.
    #[schema(value_type = String)]
    pub calendar_id: CalendarId,
    /// Where the feed is.
    pub url: String,
    /// What it is called.
    pub label: Option<String>,
    /// `active`, `error` (the last sync failed) or `paused`.
    #[schema(value_type = SubscriptionStatusName)]
    pub status: Cow<'static, str>,
    /// When a sync last ended well; null before the first.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_synced_at: Option<Timestamp>,
    /// What went wrong, where the last sync failed.
    pub last_error: Option<String>,
    /// What the last good sync came to; null before the first.
    pub last_sync: Option<SyncReport>,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it was last changed, not counting syncs.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

/// What a sync came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SyncReport {
    /// How many events are new.
    pub created: u32,
    /// How many have changed.
    pub updated: u32,
    /// How many were gone from the feed, and are deleted.
    pub deleted: u32,
    /// How many are as they were.
    pub untouched: u32,
    /// How many could not be taken over.
    pub skipped: u32,
    /// How many are gone from a feed that shrank by more than half; they are deleted if the next fetch says so too.
    pub withheld: u32,
    /// The first hundred that could not be taken over.
    pub skipped_events: Vec<SkippedEvent>,
    /// The first hundred of what was read as well as possible.
    pub warnings: Vec<String>,
}

/// An event that could not be taken over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SkippedEvent {
    /// Its `UID`, as far as it was read.
    pub uid: String,
    /// Why.
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

/// That a sync is under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Syncing {
    /// `syncing`
    #[schema(value_type = SyncingStatus, example = "syncing")]
    pub status: Cow<'static, str>,
}

impl Default for Syncing {
    fn default() -> Self {
        Self { status: "syncing".into() }
    }
}

/// `events`: they stay as they are.
const KEEP: &str = "keep";
/// `events`: they are deleted too.
const DELETE: &str = "delete";

/// The values of `events`. No body has them, so no schema of the components is made of them: they are written here.
fn remains() -> Schema {
    let values = ObjectBuilder::new().schema_type(Type::String).enum_values(Some([KEEP, DELETE]));
    values.default(Some(json!(KEEP))).build().into()
}

/// How a subscription is deleted.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DeleteSubscription {
    /// What becomes of its events: `keep` (the default) leaves them as they are, `delete` deletes them too.
    #[param(schema_with = remains, required = false)]
    pub events: Option<String>,
}

impl DeleteSubscription {
    /// Reads the choice.
    ///
    /// # Errors
    /// Names the parameter and what it may say.
    pub fn parse(&self) -> Result<Remains, FieldError> {
        match self.events.as_deref() {
            None | Some(KEEP) => Ok(Remains::Kept),
            Some(DELETE) => Ok(Remains::Removed),
            Some(other) => Err(FieldError::new("events", format!("must be {KEEP} or {DELETE}, got {other:?}"))),
        }
    }
}

/// What is needed to subscribe a calendar to a feed.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "calendar_id": "cal_01jn8r6v9ke0bt3m5qz2c7xwdh", "url": "https://example.com/work.ics", "label": "Work"
}))]
pub struct CreateSubscription {
    /// A calendar of the agent, `cal_…`.
    pub calendar_id: String,
    /// An https URL of the public internet without credentials, at most 2,048 characters.
    #[schema(format = "uri", max_length = 2048)]
    pub url: String,
    /// What it is called, 1-255 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 255)]
    pub label: Option<String>,
}

fn label(text: &str) -> Result<String, FieldError> {
    bounded_text("label", text, 1, LABEL_MAX)
}

impl CreateSubscription {
    /// Checks every field; `exempt` tells which host and port may be reached although private.
    ///
    /// # Errors
    /// All fields at fault.
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

/// What a PATCH of a subscription may change; at least one field.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "status": "paused" }))]
pub struct UpdateSubscription {
    /// An https URL of the public internet without credentials, at most 2,048 characters.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false, format = "uri", max_length = 2048)]
    pub url: Given<String>,
    /// What it is called, 1-255 characters; null takes the label away.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 255)]
    pub label: Given<String>,
    /// `paused` or `active`.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<WantedSubscriptionStatus>, nullable = false)]
    pub status: Given<String>,
}

/// Whether the status that a PATCH asks for is that of a pause. An `error` comes and goes by itself.
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
    /// Whether the address is null.
    pub const fn clears_url(&self) -> bool {
        matches!(self.url, Some(None))
    }

    /// Checks every field; `exempt` tells which host and port may be reached although private.
    ///
    /// # Errors
    /// All fields at fault, or that there is none.
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

/// Which subscriptions a list holds.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListSubscriptions {
    /// Only those of this status.
    #[param(value_type = Option<SubscriptionStatusName>)]
    pub status: Option<String>,
    /// How many, 1-200; 50 by default.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<i64>,
    /// How many to pass over.
    #[param(minimum = 0)]
    pub offset: Option<i64>,
}

impl ListSubscriptions {
    /// Checks every parameter.
    ///
    /// # Errors
    /// All parameters at fault.
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

/// What an import of a file came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ImportReport {
    /// How many events are new.
    pub created: u32,
    /// How many were imported before, and have changed in the file since.
    pub updated: u32,
    /// How many were imported before, and are as they were in the file.
    pub untouched: u32,
    /// How many could not be taken over.
    pub skipped: u32,
    /// The first hundred that could not be taken over.
    pub skipped_events: Vec<SkippedEvent>,
    /// The first hundred of what was read as well as possible.
    pub warnings: Vec<String>,
}

impl From<domain::sync::Report> for ImportReport {
    fn from(report: domain::sync::Report) -> Self {
        let SyncReport { created, updated, untouched, skipped, skipped_events, warnings, .. } = report.into();
        Self { created, updated, untouched, skipped, skipped_events, warnings }
    }
}
