//! The happenings that events emit as time passes: reminders, starts and ends.
//!
//! They follow from the event and the default reminders of its calendar alone. A [`Timer`] is the one row that is kept
//! for an event: when to process the event next, and up to which instant its happenings were emitted. A series is
//! expanded only around the time that is processed, however many occurrences follow.
//!
//! Confirmed events emit reminders, starts and ends. Tentative events emit only reminders, which match their alarms in
//! the feed, because the events might not take place. A one-off event that guests booked also reminds them.
//! Holds, cancelled events and imported events emit nothing. An override emits its own happenings, like a one-off event.

use kalends_kernel::{CalendarId, EventId, OrgId, Version};
use kalends_time::{SignedDuration, Span, Timestamp};

use crate::{Event, EventSource, EventStatus, Recurrence, Reminders, Repeats};

/// Happenings that are late by this much or more are dropped.
pub const LATENESS_MAX: SignedDuration = SignedDuration::hours(1);

/// The kind of a [`Happening`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HappeningKind {
    /// The end is reached. It sorts first, so that an occurrence ends before the one that directly follows begins.
    End,
    /// The time of a reminder is reached.
    Reminder,
    /// The time of a reminder of the guests who booked the event is reached.
    GuestReminder,
    /// The start is reached.
    Start,
}

/// A reminder, a start or an end that an event emits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Happening {
    /// When it is due.
    pub at: Timestamp,
    /// The kind.
    pub kind: HappeningKind,
    /// For a series, the start of the occurrence that emits it.
    pub occurrence: Option<Timestamp>,
}

/// The times up to which an event's happenings were emitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmittedUntil {
    /// Happenings due up to and including this time were emitted or must not be.
    pub all: Timestamp,
    /// Reminders due up to and including this time must not be emitted either. It is later than `all` if the reminders
    /// were changed since.
    pub reminders: Timestamp,
}

impl EmittedUntil {
    /// All happenings and reminders up to `instant`.
    pub const fn both(instant: Timestamp) -> Self {
        Self { all: instant, reminders: instant }
    }

    /// Moves both times past the happenings that are dropped at `now`.
    fn bounded(self, now: Timestamp) -> Self {
        let oldest = now - LATENESS_MAX;
        Self { all: self.all.max(oldest), reminders: self.reminders.max(self.all).max(oldest) }
    }
}

/// When to process an event next, and up to when its happenings were emitted. There is one row for each hold, until it
/// expires, and for each event that still has a happening or may get one when the default reminders of its calendar
/// change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timer {
    /// The organization.
    pub org: OrgId,
    /// The calendar.
    pub calendar: CalendarId,
    /// The event.
    pub event: EventId,
    /// Whether it is a hold, which only expires.
    pub hold: bool,
    /// Whether it inherits the reminders of its calendar.
    pub inherits: bool,
    /// When to process it.
    pub due_at: Timestamp,
    /// The times up to which its happenings were emitted.
    pub emitted_until: EmittedUntil,
    /// The value of [`Event::timing`] when the row was written.
    pub timing: i64,
}

/// The next state of a timer that was processed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Advance {
    /// The organization.
    pub org: OrgId,
    /// The calendar.
    pub calendar: CalendarId,
    /// The event.
    pub event: EventId,
    /// The version of the row that was read. The change-set is stale if the row has another.
    pub seen: Version,
    /// When to process it again, and the times up to which its happenings were emitted; `None` removes the row.
    pub next: Option<(Timestamp, EmittedUntil)>,
}

impl Event {
    /// The timer of this event, which is written at `now`, on a calendar with these default reminders. `None` if there
    /// is nothing left to process. Happenings that are past when the event is written are not emitted.
    pub fn timer(&self, defaults: Option<&Reminders>, now: Timestamp) -> Option<Timer> {
        let emitted_until = EmittedUntil::both(now);
        Some(Timer {
            org: self.org,
            calendar: self.calendar,
            event: self.id,
            hold: self.status == EventStatus::Hold,
            inherits: self.reminders.is_none(),
            due_at: self.look_after(defaults, emitted_until)?,
            emitted_until,
            timing: self.timing(),
        })
    }

    /// When to process the event next, if its happenings were emitted up to `emitted_until`.
    pub fn look_after(&self, defaults: Option<&Reminders>, emitted_until: EmittedUntil) -> Option<Timestamp> {
        if self.deleted_at.is_some() || self.source != EventSource::Internal {
            return None;
        }
        match self.status {
            EventStatus::Hold => self.hold.map(|hold| hold.expires_at),
            EventStatus::Cancelled => None,
            EventStatus::Confirmed | EventStatus::Tentative => {
                let next = self.next_happening(&Reminders::effective(self.reminders.as_ref(), defaults), emitted_until);
                // Until it begins, a tentative event without reminders may still inherit some from its calendar.
                next.or_else(|| self.next_start(emitted_until.all))
            }
        }
    }

    /// When the first happening after `emitted_until` is due, with these reminders. It is the first of
    /// [`happenings`](Self::happenings), but a series is not expanded beyond it.
    pub fn next_happening(&self, reminders: &Reminders, emitted_until: EmittedUntil) -> Option<Timestamp> {
        let reminded = emitted_until.reminders.max(emitted_until.all);
        let before = |minutes: &u16| SignedDuration::minutes((*minutes).into());
        let reminder = |minutes: &u16| Some(self.next_start(reminded + before(minutes))? - before(minutes));
        let reminder = reminders.minutes().iter().filter_map(reminder).min();
        let guest = self.reminds_guest().filter(|at| *at > emitted_until.all).min();
        let (start, end) = if self.status == EventStatus::Confirmed {
            (self.next_start(emitted_until.all), self.next_end(emitted_until.all))
        } else {
            (None, None)
        };
        [reminder, guest, start, end].into_iter().flatten().filter(|_| self.emits_happenings()).min()
    }

    /// The happenings after `emitted_until` and up to and including `until`, with these reminders, in order. Those that
    /// are due [`LATENESS_MAX`] or more before `until` are dropped.
    pub fn happenings(&self, reminders: &Reminders, emitted_until: EmittedUntil, until: Timestamp) -> Vec<Happening> {
        if !self.emits_happenings() {
            return Vec::new();
        }
        let EmittedUntil { all, reminders: reminded } = emitted_until.bounded(until);
        let series = self.recurrence().is_some();
        let happening = |kind, at, start| Happening { at, kind, occurrence: series.then_some(start) };
        let mut found = Vec::new();
        for minutes in reminders.minutes() {
            let before = SignedDuration::minutes((*minutes).into());
            let starts = self.starts_within(reminded + before, until + before);
            found.extend(starts.into_iter().map(|start| happening(HappeningKind::Reminder, start - before, start)));
        }
        let guest = self.reminds_guest().filter(|at| all < *at && *at <= until);
        found.extend(guest.map(|at| happening(HappeningKind::GuestReminder, at, self.times.span.start())));
        if self.status == EventStatus::Confirmed {
            let starts = self.starts_within(all, until);
            found.extend(starts.into_iter().map(|start| happening(HappeningKind::Start, start, start)));
            let ended = self.ended_within(all, until);
            found.extend(ended.into_iter().map(|span| happening(HappeningKind::End, span.end(), span.start())));
        }
        found.sort_unstable();
        found
    }

    /// The event to show with a happening: the instance for a series, else the event itself.
    pub fn event_of(&self, happening: &Happening) -> Option<Self> {
        match happening.occurrence {
            None => Some(self.clone()),
            Some(start) => self.instance(start),
        }
    }

    /// Whether the event emits happenings.
    fn emits_happenings(&self) -> bool {
        self.takes_place() && self.source == EventSource::Internal
    }

    /// When its guests are reminded.
    fn reminds_guest(&self) -> impl Iterator<Item = Timestamp> {
        let minutes = if self.repeats == Repeats::Once { self.guest_reminders.minutes() } else { &[] };
        minutes.iter().map(|minutes| self.times.span.start() - SignedDuration::minutes((*minutes).into()))
    }

    /// A hash of everything that determines the event's happenings, except its calendar's reminders. A write that does
    /// not change it leaves the timer alone. It is the same on every node and in every release.
    pub fn timing(&self) -> i64 {
        let mut mark = Mark::default();
        mark.number(self.times.span.start().as_micros());
        mark.number(self.times.span.end().as_micros());
        mark.text(self.status.as_str());
        mark.text(self.source.as_str());
        mark.number(self.deleted_at.is_some().into());
        mark.number(self.hold.map_or(0, |hold| hold.expires_at.as_micros()));
        mark.number(self.reminders.is_some().into());
        self.reminders.iter().flat_map(|own| own.minutes()).for_each(|minutes| mark.number((*minutes).into()));
        // Earlier releases did not write these numbers. An event without them keeps its hash. A guest who left must not be
        // reminded, so that an announcement is decided again if guests have changed.
        self.guest_reminders.minutes().iter().for_each(|minutes| mark.number(-i64::from(*minutes)));
        Some(self.seat_changes).filter(|changes| *changes != 0).into_iter().for_each(|changes| mark.number(changes));
        mark.text(&self.recurrence().map(Recurrence::to_json).unwrap_or_default());
        mark.0.cast_signed()
    }

    /// The first start after `instant`.
    fn next_start(&self, instant: Timestamp) -> Option<Timestamp> {
        match self.recurrence() {
            None => Some(self.times.span.start()).filter(|start| *start > instant),
            Some(_) => self.repeating()?.starting(instant, Timestamp::HORIZON).next(),
        }
    }

    /// The first end after `instant`.
    fn next_end(&self, instant: Timestamp) -> Option<Timestamp> {
        match self.recurrence() {
            None => Some(self.times.span.end()).filter(|end| *end > instant),
            // The first occurrence that lasts beyond the instant is also the first to end, as all are equally long.
            Some(_) => {
                let ahead = Span::new(instant, Timestamp::HORIZON.max(instant + SignedDuration::days(1))).ok()?;
                Some(self.repeating()?.occurrences(ahead).next()?.end())
            }
        }
    }

    /// The starts after `after` and up to and including `until`.
    fn starts_within(&self, after: Timestamp, until: Timestamp) -> Vec<Timestamp> {
        match self.recurrence() {
            None => {
                let start = self.times.span.start();
                Vec::from_iter((after < start && start <= until).then_some(start))
            }
            Some(_) => self.repeating().map(|series| series.starting(after, until).collect()).unwrap_or_default(),
        }
    }

    /// The occurrences that end after `after` and up to and including `until`.
    fn ended_within(&self, after: Timestamp, until: Timestamp) -> Vec<Span> {
        let within = |span: &Span| after < span.end() && span.end() <= until;
        match (self.recurrence(), Span::new(after, until + SignedDuration::micros(1))) {
            (None, _) => Vec::from_iter(Some(self.times.span).filter(within)),
            (Some(_), Ok(window)) => {
                let series = self.repeating();
                series.map(|series| series.occurrences(window).take_while(within).collect()).unwrap_or_default()
            }
            (Some(_), Err(_)) => Vec::new(),
        }
    }
}

/// The hash FNV-1a. It only has to detect differences.
struct Mark(u64);

impl Default for Mark {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Mark {
    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn number(&mut self, number: i64) {
        self.bytes(&number.to_be_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(i64::try_from(text.len()).unwrap_or(i64::MAX));
        self.bytes(text.as_bytes());
    }
}

#[cfg(test)]
mod tests;
