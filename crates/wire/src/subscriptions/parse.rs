//! Parses the requests into values of the domain, and builds the answers from them.

use kalends_calendars::{Block, Event};
use kalends_feeds::{
    self as domain, LABEL_MAX, NewSubscription, Remains, SubscriptionPatch, SubscriptionStatus,
    sync::{Counts, SyncDetails},
};
use kalends_kernel::{CalendarId, FieldError, FieldErrors, Page, bounded_text};
use kalends_remote::RemoteUrl;

use super::{
    CreateSubscription, DELETE, DeleteSubscription, ImportReport, KEEP, ListSubscriptions, RefusedEvent, SkippedEvent,
    Subscription, SyncReport, UpdateSubscription,
};
use crate::{
    Conflict,
    patch::{nothing_to_change, set, set_or_clear},
};

impl From<(String, String)> for SkippedEvent {
    fn from((uid, reason): (String, String)) -> Self {
        Self { uid, reason }
    }
}

impl From<domain::sync::Report> for SyncReport {
    fn from(report: domain::sync::Report) -> Self {
        let domain::sync::Report { counts, skipped, withheld, details: SyncDetails { skipped: first, warnings } } =
            report;
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
            busy_only: subscription.busy_only,
            last_synced_at: subscription.state.last_synced_at,
            last_error: subscription.state.last_error.clone(),
            last_sync: subscription.state.memory.report.clone().map(SyncReport::from),
            created_at: subscription.created_at,
            updated_at: subscription.updated_at,
        }
    }
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
            (Some(url), Some(label)) => {
                Ok((self.calendar_id, NewSubscription { url, label, busy_only: self.busy_only }))
            }
            _ => Err(errors),
        }
    }
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
        let busy_only = errors.take(set("busy_only", self.busy_only, Ok));
        let (Some(url), Some(label), Some(paused), Some(busy_only)) = (url, label, paused, busy_only) else {
            return Err(errors);
        };
        let patch = SubscriptionPatch { url, label, paused, busy_only };
        if patch == SubscriptionPatch::default() {
            return Err(nothing_to_change("url, label, status, busy_only").into());
        }
        Ok(patch)
    }
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

impl ImportReport {
    /// Builds the answer, with the first refused events and their number.
    pub fn new(report: domain::sync::Report, refused: Vec<RefusedEvent>, refused_count: u32) -> Self {
        let SyncReport { created, updated, untouched, skipped, skipped_events, warnings, .. } = report.into();
        let refused_count = Some(refused_count).filter(|count| *count > 0);
        Self { created, updated, untouched, skipped, skipped_events, warnings, refused, refused_count }
    }
}

impl RefusedEvent {
    /// Builds the report of an event whose time is taken.
    pub fn new(uid: &str, event: &Event, conflicts: Vec<(CalendarId, Block)>) -> Self {
        let conflicts = conflicts.into_iter().map(|(calendar, block)| Conflict::new(calendar, block)).collect();
        Self { uid: uid.to_owned(), start_time: event.times.span.start(), conflicts }
    }
}
