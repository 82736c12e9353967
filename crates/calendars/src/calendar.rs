//! Calendars, owned by an agent or shared by an organization.

use kalends_kernel::{AgentId, CalendarId, Metadata, OrgId, Revision, Version};
use kalends_time::{Timestamp, Zone};

use crate::{FeedToken, Patch, RecurrenceDefault, Reminders, Zones, named_values};

named_values! {
    /// The activity that the agent of a calendar reports. Any value may follow any other.
    pub enum AgentActivity {
        /// Nothing in particular.
        Idle = "idle",
        /// At work.
        Working = "working",
        /// Waiting for something.
        Waiting = "waiting",
        /// In an error state.
        Error = "error",
    }
}

named_values! {
    /// Whether events on a calendar may overlap.
    #[derive(Default)]
    pub enum Conflicts {
        /// They may.
        #[default]
        Allow = "allow",
        /// A write that would block a time that something else blocks is refused.
        Refuse = "refuse",
    }
}

named_values! {
    /// The events of a calendar that are published to a user's calendar.
    #[derive(Default)]
    pub enum PublicationPolicy {
        /// No events.
        #[default]
        None = "none",
        /// Confirmed events.
        Confirmed = "confirmed",
        /// Confirmed and tentative events.
        ConfirmedTentative = "confirmed_tentative",
    }
}

named_values! {
    /// The provider of a bridged calendar.
    pub enum Provider {
        /// Google Calendar.
        Google = "google",
        /// Microsoft 365 or Outlook.
        Microsoft = "microsoft",
        /// Apple iCloud.
        Apple = "apple",
    }
}

/// A calendar as stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Calendar {
    /// The identifier.
    pub id: CalendarId,
    /// The owning organization.
    pub org: OrgId,
    /// The owning agent; `None` for a calendar that the organization shares.
    pub agent: Option<AgentId>,
    /// 1-255 characters.
    pub name: String,
    /// The zone of all-day events, the feed and working hours.
    pub zone: Zone,
    /// The caller's own data.
    pub metadata: Metadata,
    /// The provider's identifier, when bridged.
    pub external_id: Option<String>,
    /// The provider, when bridged.
    pub provider: Option<Provider>,
    /// The activity that the agent reports.
    pub activity: AgentActivity,
    /// The reminders that events without reminders of their own inherit; `None` means ten minutes.
    pub default_reminders: Option<Reminders>,
    /// Whether its events may overlap.
    pub conflicts: Conflicts,
    /// The zone of series that name none; `None` means the service's default.
    pub recurrence_default: Option<RecurrenceDefault>,
    /// Which of its events are published to a user's calendar; `None` if it has no destination. A change of the
    /// destination sets it, and no decision writes it.
    pub publication: Option<PublicationPolicy>,
    /// The secret part of the public feed's address.
    pub feed_token: FeedToken,
    /// The number of changes to what is scheduled on the calendar.
    pub revision: Revision,
    /// The row's version.
    pub version: Version,
    /// When the calendar was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// When it was deleted, if it was.
    pub deleted_at: Option<Timestamp>,
}

/// How the events of a calendar are published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Publication {
    /// Which of them are published; `None` if the calendar has no destination.
    pub policy: Option<PublicationPolicy>,
    /// The zone of the calendar.
    pub zone: Zone,
}

impl From<&Calendar> for Publication {
    fn from(calendar: &Calendar) -> Self {
        Self { policy: calendar.publication, zone: calendar.zone }
    }
}

/// The validated fields of a new calendar.
#[derive(Debug, Clone, PartialEq)]
pub struct NewCalendar {
    /// 1-255 characters.
    pub name: String,
    /// The calendar's zone.
    pub zone: Zone,
    /// What the agent is doing.
    pub activity: AgentActivity,
    /// Inherited reminders.
    pub default_reminders: Option<Reminders>,
    /// Whether its events may overlap.
    pub conflicts: Conflicts,
    /// The zone of series that name none.
    pub recurrence_default: Option<RecurrenceDefault>,
    /// The caller's own data.
    pub metadata: Metadata,
}

/// The validated changes of a PATCH.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CalendarPatch {
    /// A new name.
    pub name: Patch<String>,
    /// A new zone.
    pub zone: Patch<Zone>,
    /// What the agent is doing now.
    pub activity: Patch<AgentActivity>,
    /// New inherited reminders; `None` restores the default of ten minutes.
    pub default_reminders: Patch<Option<Reminders>>,
    /// Whether its events may overlap from now on.
    pub conflicts: Patch<Conflicts>,
    /// The zone of series that name none; `None` restores the service's default.
    pub recurrence_default: Patch<Option<RecurrenceDefault>>,
    /// New metadata, which replaces the old.
    pub metadata: Patch<Metadata>,
}

impl Calendar {
    /// The calendar that `new` describes, created at `now`.
    pub fn create(
        id: CalendarId,
        org: OrgId,
        agent: Option<AgentId>,
        new: NewCalendar,
        feed_token: FeedToken,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            org,
            agent,
            name: new.name,
            zone: new.zone,
            metadata: new.metadata,
            external_id: None,
            provider: None,
            activity: new.activity,
            default_reminders: new.default_reminders,
            conflicts: new.conflicts,
            recurrence_default: new.recurrence_default,
            publication: None,
            feed_token,
            revision: Revision(0),
            version: Version::FIRST,
            created_at: now,
            updated_at: now,
            deleted_at: None,
        }
    }

    /// The calendar after `patch`.
    #[must_use]
    pub fn patched(&self, patch: CalendarPatch, now: Timestamp) -> Self {
        let mut calendar = self.clone();
        patch.name.apply_to(&mut calendar.name);
        patch.zone.apply_to(&mut calendar.zone);
        patch.activity.apply_to(&mut calendar.activity);
        patch.default_reminders.apply_to(&mut calendar.default_reminders);
        patch.conflicts.apply_to(&mut calendar.conflicts);
        patch.recurrence_default.apply_to(&mut calendar.recurrence_default);
        patch.metadata.apply_to(&mut calendar.metadata);
        calendar.version = self.version.next();
        calendar.updated_at = now;
        calendar
    }

    /// The zones that its events follow. `default` is the service's default.
    pub fn zones(&self, default: RecurrenceDefault) -> Zones {
        let series = match self.recurrence_default.unwrap_or(default) {
            RecurrenceDefault::Utc => Zone::UTC,
            RecurrenceDefault::Calendar => self.zone,
        };
        Zones { calendar: self.zone, series }
    }

    /// The calendar with a new feed address. The old address no longer works.
    #[must_use]
    pub fn with_feed_token(&self, feed_token: FeedToken, now: Timestamp) -> Self {
        Self { feed_token, version: self.version.next(), updated_at: now, ..self.clone() }
    }

    /// The calendar marked as deleted. Its events are no longer visible.
    #[must_use]
    pub fn deleted(&self, now: Timestamp) -> Self {
        Self { deleted_at: Some(now), version: self.version.next(), updated_at: now, ..self.clone() }
    }
}
