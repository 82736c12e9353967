//! Events.

use kalends_kernel::{CalendarId, EventId, FieldError, FieldErrors, HoldSetId, Metadata, OrgId, Version};
use kalends_time::{Span, Timestamp, Zone};

use crate::{
    AsOf, Attendees, Calendar, ConferenceUrl, EventStatus, Hold, HoldError, HoldExpiry, Moment, NewHold, NewRecurrence,
    Occurrence, Patch, Recurrence, RecurrenceDefault, RecurrencePatch, Reminders, Repeats, Times, Zones, named_values,
    not_for_holds,
    times::{LAST_START, moved_end},
};

/// The maximum number of characters in an event's title.
pub const TITLE_MAX: usize = 500;
/// The maximum number of characters in an event's description.
pub const DESCRIPTION_MAX: usize = 20_000;
/// The maximum number of characters in an event's location.
pub const LOCATION_MAX: usize = 500;

named_values! {
    /// Where an event comes from.
    pub enum EventSource {
        /// From a caller of this API.
        Internal = "internal",
        /// From an iCalendar feed that is imported. Read-only.
        ExternalIcal = "external_ical",
    }
}

named_values! {
    /// The state of an event's copy in a connected human calendar.
    pub enum ExternalSync {
        /// No publishing connection.
        NotConfigured = "not_configured",
        /// Waiting to be published.
        Queued = "queued",
        /// Published.
        Published = "published",
        /// Not published, because of the policy.
        Skipped = "skipped",
        /// The last attempt failed. It will be tried again.
        Failed = "failed",
        /// A person changed or deleted the copy, so it is left alone.
        Diverged = "diverged",
    }
}

/// An event as stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The identifier.
    pub id: EventId,
    /// The owning organization.
    pub org: OrgId,
    /// The calendar that it is on.
    pub calendar: CalendarId,
    /// 1-500 characters.
    pub title: String,
    /// Free text, if any.
    pub description: Option<String>,
    /// Where it takes place, if that is known: free text of at most [`LOCATION_MAX`] characters.
    pub location: Option<String>,
    /// The address of its call, if it has one.
    pub conference_url: Option<ConferenceUrl>,
    /// Who takes part.
    pub attendees: Attendees,
    /// When it takes place.
    pub times: Times,
    /// The status.
    pub status: EventStatus,
    /// The source.
    pub source: EventSource,
    /// The caller's own data.
    pub metadata: Metadata,
    /// Its own reminders; `None` inherits the calendar's.
    pub reminders: Option<Reminders>,
    /// The reminders of the guests who booked it. They are sent for a one-off event only.
    pub guest_reminders: Reminders,
    /// How many of its versions differ from the one before only in who has a seat in it.
    pub seat_changes: i64,
    /// Whether it is a series, or an occurrence of one.
    pub repeats: Repeats,
    /// The series that this one continues, if it was split off it.
    pub previous_series: Option<EventId>,
    /// The hold, if the event is one or was one that expired. `None` once the hold is confirmed, released or
    /// pre-empted.
    pub hold: Option<Hold>,
    /// The hold set with which it was placed. It stays when the hold ends.
    pub hold_set: Option<HoldSetId>,
    /// Whether it leaves its time free although it takes place (`TRANSP` in RFC 5545, section 3.8.2.7). Only events
    /// that were read from iCalendar text can be transparent.
    pub transparent: bool,
    /// The row's version.
    pub version: Version,
    /// When the event was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// When it was deleted, if it was.
    pub deleted_at: Option<Timestamp>,
}

/// The fields of a new event, validated as far as possible without the calendar.
#[derive(Debug, Clone, PartialEq)]
pub struct NewEvent {
    /// 1-500 characters.
    pub title: String,
    /// Free text, if any.
    pub description: Option<String>,
    /// Where it takes place, if that is known.
    pub location: Option<String>,
    /// The address of its call, if it has one.
    pub conference_url: Option<ConferenceUrl>,
    /// Who takes part.
    pub attendees: Attendees,
    /// The start.
    pub start: Moment,
    /// The end, exclusive.
    pub end: Moment,
    /// Whether the event takes whole days.
    pub all_day: bool,
    /// `hold` if and only if there is a hold.
    pub status: EventStatus,
    /// The caller's own data.
    pub metadata: Metadata,
    /// Its own reminders.
    pub reminders: Option<Reminders>,
    /// The recurrence, if it is a series.
    pub recurrence: Option<NewRecurrence>,
    /// The hold, if it is one.
    pub hold: Option<NewHold>,
    /// Whether the event is created only if nothing else blocks its times.
    pub if_free: bool,
    /// The state on which the caller decided. The event is refused if something relevant has changed since.
    pub if_as_of: Option<AsOf>,
    /// Whether its attendees are invited by mail.
    pub send_invitations: bool,
}

/// The changes of a PATCH, validated as far as possible without the event.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EventPatch {
    /// A new title.
    pub title: Patch<String>,
    /// A new description; `None` clears it.
    pub description: Patch<Option<String>>,
    /// A new location; `None` clears it.
    pub location: Patch<Option<String>>,
    /// A new address of the call; `None` clears it.
    pub conference_url: Patch<Option<ConferenceUrl>>,
    /// New attendees, in place of all earlier ones. Those who stay keep their reply.
    pub attendees: Patch<Attendees>,
    /// A new start.
    pub start: Patch<Moment>,
    /// A new end.
    pub end: Patch<Moment>,
    /// Whether the event takes whole days.
    pub all_day: Patch<bool>,
    /// `confirmed`, `tentative` or `cancelled`.
    pub status: Patch<EventStatus>,
    /// New metadata, which replaces the old.
    pub metadata: Patch<Metadata>,
    /// New reminders; `None` inherits the calendar's.
    pub reminders: Patch<Option<Reminders>>,
    /// Changes to the recurrence.
    pub recurrence: RecurrencePatch,
    /// A new expiry of a hold.
    pub hold_expires_at: Patch<HoldExpiry>,
    /// Whether the event is changed only if nothing else blocks its times.
    pub if_free: bool,
    /// The state on which the caller decided. The change is refused if something relevant has changed since.
    pub if_as_of: Option<AsOf>,
    /// Whether its attendees get the change by mail.
    pub send_invitations: bool,
}

/// Why an event cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EventError {
    /// The event is imported, and changes only at its source.
    #[error("the event {0} is imported from an iCal feed and read-only here; change it at its source")]
    ReadOnly(EventId),
    /// The result would be invalid.
    #[error(transparent)]
    Invalid(#[from] FieldErrors),
    /// The change does not fit the event's state as a hold, or the event is not a hold.
    #[error(transparent)]
    Hold(#[from] HoldError),
}

impl Event {
    /// The event that `new` describes on `calendar`, created at `now`. A series that names no zone follows UTC, unless
    /// the calendar has a default of its own.
    ///
    /// # Errors
    /// As [`Self::create_in`].
    pub fn create(id: EventId, calendar: &Calendar, new: NewEvent, now: Timestamp) -> Result<Self, FieldErrors> {
        Self::create_in(id, calendar, calendar.zones(RecurrenceDefault::default()), new, now)
    }

    /// The event that `new` describes on `calendar`, whose events follow `zones`, created at `now`.
    ///
    /// # Errors
    /// The end is not after the start (`end_before_start`), a plain date is given without `all_day`, the rule does not
    /// fit the times, the hold expires too soon or too late, or its time is over.
    pub fn create_in(
        id: EventId,
        calendar: &Calendar,
        zones: Zones,
        new: NewEvent,
        now: Timestamp,
    ) -> Result<Self, FieldErrors> {
        let hold = new.hold.map(|new| new.hold.placed(now, new.longest)).transpose().map_err(FieldErrors::from);
        let (times, hold) = match (Times::read(new.start, new.end, new.all_day, calendar.zone), hold) {
            (Ok(times), Ok(hold)) => (times, hold),
            (Err(mut errors), Err(of_hold)) => {
                errors.extend(&of_hold);
                return Err(errors);
            }
            (Err(errors), Ok(_)) | (Ok(_), Err(errors)) => return Err(errors),
        };
        if hold.is_some() {
            Hold::keeps(times.span, now)?;
        }
        let recurrence = new.recurrence.map(|recurrence| recurrence.of(times, zones)).transpose()?;
        Ok(Self {
            id,
            org: calendar.org,
            calendar: calendar.id,
            times,
            repeats: recurrence.map_or(Repeats::Once, Repeats::from),
            title: new.title,
            description: new.description,
            location: new.location,
            conference_url: new.conference_url,
            attendees: new.attendees,
            status: new.status,
            source: EventSource::Internal,
            metadata: new.metadata,
            reminders: new.reminders,
            guest_reminders: Reminders::default(),
            seat_changes: 0,
            previous_series: None,
            hold,
            hold_set: None,
            transparent: false,
            version: Version::FIRST,
            created_at: now,
            updated_at: now,
            deleted_at: None,
        })
    }

    /// The event after `patch`. `zones` are those of its calendar ([`Calendar::zones`]); a zone alone stands for a
    /// calendar whose series follow UTC.
    ///
    /// If the patch has only a start, the event moves and keeps its length; an all-day event keeps its number of days.
    /// If the patch has only an end, the length changes.
    ///
    /// A series that is moved, or gets another rule or zone, keeps the exdates and overrides that are still
    /// occurrences. It drops the others ([`Self::overrides_dropped_by`]).
    ///
    /// # Errors
    /// [`EventError::ReadOnly`] for imported events, [`EventError::Invalid`] if the end is not after the start, the
    /// recurrence does not fit, or a hold moves to a time that is over, and [`EventError::Hold`] for the status of a hold, new times of an expired hold, or a new
    /// expiry of anything but a live hold.
    pub fn patched(&self, patch: EventPatch, zones: impl Into<Zones>, now: Timestamp) -> Result<Self, EventError> {
        let zones: Zones = zones.into();
        let zone = zones.calendar;
        self.writable()?;
        if let Some(hold) = self.hold {
            patchable(hold, &patch, now)?;
            if patch.send_invitations {
                return Err(EventError::Invalid(not_for_holds().into()));
            }
        }
        if patch.status == Patch::Set(EventStatus::Hold) {
            let message = "must be confirmed, tentative or cancelled, got hold; place a hold as an event of its own";
            return Err(EventError::Invalid(FieldError::new("status", message).into()));
        }
        let mut event = self.clone();
        if let Patch::Set(HoldExpiry { at, longest }) = patch.hold_expires_at {
            let hold = self.live_hold(now).map_err(EventError::Hold)?;
            let hold = Hold { expires_at: at, ..hold }.placed(now, longest).map_err(FieldErrors::from)?;
            event.hold = Some(hold);
        }
        let Times { span, mut all_day } = self.times;
        let times_given = patch.start.is_set() || patch.end.is_set() || patch.all_day.is_set();
        patch.all_day.apply_to(&mut all_day);
        let (start, end) = match (patch.start, patch.end) {
            (Patch::Set(start), Patch::Keep) => {
                let (start, end) = self.moved_to(start, all_day, zone)?;
                (Moment::At(start), Moment::At(end))
            }
            (Patch::Keep, Patch::Keep) => (Moment::At(span.start()), Moment::At(span.end())),
            (Patch::Keep, Patch::Set(end)) => (Moment::At(span.start()), end),
            (Patch::Set(start), Patch::Set(end)) => (start, end),
        };
        event.times = Times::read(start, end, all_day, zone)?;
        if self.hold.is_some() && event.times.span != span {
            Hold::keeps(event.times.span, now).map_err(FieldErrors::from)?;
        }
        event.repeats = patch.recurrence.apply_to(&self.repeats, self.times, event.times, times_given, zones)?;
        patch.title.apply_to(&mut event.title);
        patch.description.apply_to(&mut event.description);
        patch.location.apply_to(&mut event.location);
        patch.conference_url.apply_to(&mut event.conference_url);
        if let Patch::Set(attendees) = patch.attendees {
            event.attendees = attendees.instead_of(&self.attendees);
        }
        event.ask_again_after(self);
        patch.status.apply_to(&mut event.status);
        patch.metadata.apply_to(&mut event.metadata);
        patch.reminders.apply_to(&mut event.reminders);
        event.version = self.version.next();
        event.updated_at = now;
        Ok(event)
    }

    /// Forgets the replies if the event takes place at other times than `before`.
    pub(crate) fn ask_again_after(&mut self, before: &Self) {
        let moved = self.times != before.times || self.repeats_otherwise_than(Some(before));
        if moved && !self.attendees.is_empty() {
            self.attendees = self.attendees.asked_again();
        }
    }

    /// The start and end of the event if only its start is moved.
    fn moved_to(&self, start: Moment, all_day: bool, zone: Zone) -> Result<(Timestamp, Timestamp), FieldErrors> {
        let start = start.resolve("start_time", all_day, zone, LAST_START)?;
        let written = self.recurrence().map_or(zone, Recurrence::zone);
        let end = moved_end(self.times, start, all_day, written, zone);
        if end > Timestamp::HORIZON {
            let message = format!("must leave room for the event's length before the year 2100, got {start}");
            return Err(FieldError::new("start_time", message).into());
        }
        Ok((start, end))
    }

    /// The event marked as deleted.
    ///
    /// # Errors
    /// [`EventError::ReadOnly`] for imported events.
    pub fn deleted(&self, now: Timestamp) -> Result<Self, EventError> {
        self.writable()?;
        Ok(self.gone(now))
    }

    /// The event marked as deleted because it is gone from its source.
    #[must_use]
    pub fn gone(&self, now: Timestamp) -> Self {
        Self { deleted_at: Some(now), version: self.version.next(), updated_at: now, ..self.clone() }
    }

    /// The event after a guest took or freed a seat in it. It has a new version, but is otherwise the same, and what others
    /// see of it does not change.
    #[must_use]
    pub fn with_other_guests(&self) -> Self {
        Self { version: self.version.next(), seat_changes: self.seat_changes + 1, ..self.clone() }
    }

    /// The deleted event in a version after that of its deletion, so that no undo brings it back. `None` if it has such a
    /// version already, or is not deleted. Nobody sees a difference.
    #[must_use]
    pub fn staying_gone(&self, now: Timestamp) -> Option<Self> {
        // Nothing else writes to a deleted event without bringing it back.
        let is_of_deletion = self.deleted_at.is_some_and(|deleted_at| self.updated_at <= deleted_at);
        is_of_deletion.then(|| Self { updated_at: now, ..self.with_other_guests() })
    }

    /// The event as cancelled at its source.
    #[must_use]
    pub fn cancelled(&self, now: Timestamp) -> Self {
        Self { status: EventStatus::Cancelled, version: self.version.next(), updated_at: now, ..self.clone() }
    }

    /// The recurrence, if the event is a series.
    pub fn recurrence(&self) -> Option<&Recurrence> {
        match &self.repeats {
            Repeats::Series(recurrence) => Some(recurrence),
            Repeats::Once | Repeats::Instance(_) => None,
        }
    }

    /// The occurrence that the event is, if it is one.
    pub const fn occurrence(&self) -> Option<Occurrence> {
        match self.repeats {
            Repeats::Instance(occurrence) => Some(occurrence),
            Repeats::Once | Repeats::Series(_) => None,
        }
    }

    /// Whether the event takes place or may take place.
    pub fn takes_place(&self) -> bool {
        self.deleted_at.is_none() && matches!(self.status, EventStatus::Confirmed | EventStatus::Tentative)
    }

    /// Whether the event blocks its time.
    pub fn blocks(&self) -> bool {
        self.takes_place() && !self.transparent
    }

    /// The time that the event itself blocks, if any. `None` for a series: see [`crate::Repeating`] for the time of its
    /// occurrences.
    pub fn busy(&self) -> Option<Span> {
        (self.blocks() && self.recurrence().is_none()).then_some(self.times.span)
    }

    pub(crate) fn writable(&self) -> Result<(), EventError> {
        match self.source {
            EventSource::Internal => Ok(()),
            EventSource::ExternalIcal => Err(EventError::ReadOnly(self.id)),
        }
    }
}

/// Checks that `patch` may be applied to a hold.
fn patchable(hold: Hold, patch: &EventPatch, now: Timestamp) -> Result<(), EventError> {
    let moves = patch.start.is_set() || patch.end.is_set() || patch.all_day.is_set();
    // A node whose clock is behind may still confirm it, so it must not move away from where it was placed.
    if hold.has_expired(now) && (moves || patch.status.is_set()) {
        return Err(HoldError::Expired(hold.expires_at).into());
    }
    if patch.status.is_set() {
        return Err(HoldError::StatusIsNotSet.into());
    }
    if patch.recurrence != RecurrencePatch::default() {
        return Err(EventError::Invalid(cannot_recur().into()));
    }
    Ok(())
}

/// The error of a recurrence rule on a hold.
pub fn cannot_recur() -> FieldError {
    FieldError::new("recurrence_rule", "is not allowed for a hold, which cannot recur; confirm it first")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use std::str::FromStr;

    use kalends_kernel::Code;

    use super::*;
    use crate::NewCalendar;

    fn calendar(zone: &str) -> Calendar {
        let new = NewCalendar {
            name: "Work".into(),
            zone: zone.parse().unwrap(),
            activity: crate::AgentActivity::Idle,
            default_reminders: None,
            conflicts: crate::Conflicts::Allow,
            recurrence_default: None,
            metadata: Metadata::default(),
        };
        let now = Timestamp::from_micros(0);
        Calendar::create(
            CalendarId::from_str("cal_00000000000000000000000001").unwrap(),
            OrgId::from_str("org_00000000000000000000000001").unwrap(),
            None,
            new,
            "token".into(),
            now,
        )
    }

    fn event_in(zone: &str, start: &str, end: &str, all_day: bool) -> Result<Event, FieldErrors> {
        let new = NewEvent {
            title: "Standup".into(),
            description: None,
            location: None,
            conference_url: None,
            attendees: Attendees::default(),
            start: Moment::parse("start_time", start)?,
            end: Moment::parse("end_time", end)?,
            all_day,
            status: EventStatus::Confirmed,
            metadata: Metadata::default(),
            reminders: None,
            recurrence: None,
            hold: None,
            if_free: false,
            if_as_of: None,
            send_invitations: false,
        };
        let id = EventId::from_str("evt_00000000000000000000000001").unwrap();
        Event::create(id, &calendar(zone), new, Timestamp::from_micros(5))
    }

    #[rstest]
    #[case::an_offset(
        "UTC",
        "2026-05-01T09:00:00+02:00",
        "2026-05-01T10:00:00+02:00",
        false,
        "2026-05-01T07:00:00Z",
        "2026-05-01T08:00:00Z"
    )]
    #[case::dates("Europe/Berlin", "2026-05-01", "2026-05-02", true, "2026-04-30T22:00:00Z", "2026-05-01T22:00:00Z")]
    #[case::the_short_day(
        "Europe/Berlin",
        "2026-03-29",
        "2026-03-30",
        true,
        "2026-03-28T23:00:00Z",
        "2026-03-29T22:00:00Z"
    )]
    #[case::the_long_day(
        "Europe/Berlin",
        "2026-10-25",
        "2026-10-26",
        true,
        "2026-10-24T22:00:00Z",
        "2026-10-25T23:00:00Z"
    )]
    #[case::leap_day("Asia/Kolkata", "2028-02-29", "2028-03-01", true, "2028-02-28T18:30:00Z", "2028-02-29T18:30:00Z")]
    #[case::the_last_day("UTC", "2099-12-31", "2100-01-01", true, "2099-12-31T00:00:00Z", "2100-01-01T00:00:00Z")]
    fn times_are_read_in_the_zone(
        #[case] zone: &str,
        #[case] start: &str,
        #[case] end: &str,
        #[case] all_day: bool,
        #[case] from: &str,
        #[case] to: &str,
    ) {
        let span = event_in(zone, start, end, all_day).unwrap().times.span;
        assert_eq!((span.start().to_string().as_str(), span.end().to_string().as_str()), (from, to));
    }

    #[rstest]
    #[case::end_before_start("2026-05-01T09:00:00Z", "2026-05-01T08:00:00Z", false, "end_time", Code::EndBeforeStart)]
    #[case::end_at_start("2026-05-01T09:00:00Z", "2026-05-01T09:00:00Z", false, "end_time", Code::EndBeforeStart)]
    #[case::date_without_all_day("2026-05-01", "2026-05-02", false, "start_time", Code::InvalidTimeFormat)]
    #[case::no_offset("2026-05-01T09:00:00", "2026-05-02", true, "start_time", Code::InvalidTimeFormat)]
    #[case::beyond_the_tables("2099-12-31", "2100-01-02", true, "end_time", Code::InvalidTimeFormat)]
    #[case::a_start_beyond_the_tables("2100-01-01", "2100-01-01", true, "start_time", Code::InvalidTimeFormat)]
    fn refuses(#[case] start: &str, #[case] end: &str, #[case] all_day: bool, #[case] param: &str, #[case] code: Code) {
        let error = event_in("UTC", start, end, all_day).unwrap_err().first();
        assert_eq!((error.param.as_str(), error.code), (param, Some(code)));
    }

    #[test]
    fn a_patch_of_the_end_is_checked_against_the_start() {
        let event = event_in("UTC", "2026-05-01T09:00:00Z", "2026-05-01T10:00:00Z", false).unwrap();
        let early = EventPatch {
            end: Patch::Set(Moment::parse("end_time", "2026-05-01T09:00:00Z").unwrap()),
            ..EventPatch::default()
        };
        let Err(EventError::Invalid(errors)) = event.patched(early, Zone::UTC, event.created_at) else {
            panic!("the end is not after the start");
        };
        assert_eq!((errors.first().param.as_str(), errors.first().code), ("end_time", Some(Code::EndBeforeStart)));
    }

    #[test]
    fn a_patch_keeps_fields_that_it_leaves_out_and_increments_the_version() {
        let event = event_in("UTC", "2026-05-01T09:00:00Z", "2026-05-01T10:00:00Z", false).unwrap();
        let now = Timestamp::from_micros(9);
        let patch = EventPatch { title: Patch::Set("Retro".into()), ..EventPatch::default() };
        let expected = Event { title: "Retro".into(), version: event.version.next(), updated_at: now, ..event.clone() };
        assert_eq!(event.patched(patch, Zone::UTC, now), Ok(expected));
    }

    #[test]
    fn imported_events_are_read_only() {
        let mut event = event_in("UTC", "2026-05-01T09:00:00Z", "2026-05-01T10:00:00Z", false).unwrap();
        event.source = EventSource::ExternalIcal;
        let refused = EventError::ReadOnly(event.id);
        assert_eq!(event.patched(EventPatch::default(), Zone::UTC, event.created_at), Err(refused.clone()));
        assert_eq!(event.deleted(event.created_at), Err(refused));
    }

    #[rstest]
    #[case(EventStatus::Confirmed, true)]
    #[case(EventStatus::Tentative, true)]
    #[case(EventStatus::Cancelled, false)]
    fn cancelled_and_deleted_events_do_not_block(#[case] status: EventStatus, #[case] blocks: bool) {
        let mut event = event_in("UTC", "2026-05-01T09:00:00Z", "2026-05-01T10:00:00Z", false).unwrap();
        event.status = status;
        assert_eq!(event.blocks(), blocks);
        assert!(!event.deleted(event.created_at).unwrap().blocks());
    }

    #[test]
    fn a_deleted_event_gets_one_more_version_to_stay_gone() {
        let at = Timestamp::from_micros;
        let event = event_in("UTC", "2026-05-01T09:00:00Z", "2026-05-01T10:00:00Z", false).unwrap();
        assert_eq!(event.staying_gone(at(6)), None, "it is not deleted");
        let deleted = event.deleted(at(7)).unwrap();
        let stays = deleted.staying_gone(at(8)).unwrap();
        assert_eq!((stays.version, stays.deleted_at), (deleted.version.next(), Some(at(7))));
        assert_eq!(stays.version.0 - stays.seat_changes, deleted.version.0, "others see no change");
        assert_eq!(stays.staying_gone(at(9)), None);
        // It came back and was deleted again.
        let again = Event { deleted_at: None, ..stays }.deleted(at(10)).unwrap();
        assert!(again.staying_gone(at(11)).is_some());
    }
}
