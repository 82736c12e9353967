//! What an event tells by itself as time goes by: its reminders, its start and its end (rulings 4.12, 4.13, 7.1).
//!
//! Everything follows from the event alone and from what its calendar says of reminders. A [`Timer`] is the one row
//! that is kept of it: when to look at the event next, and up to which instant everything was told. A series is
//! expanded only where it is looked at, so that what lies ahead costs nothing.
//!
//! Confirmed events tell their reminders, starts and ends. Tentative ones tell their reminders only, as the feed shows
//! them with their alarms; that they begin is not known. Holds, cancelled and imported events tell nothing. An
//! occurrence that was changed on its own is an event of its own here too.

use kalends_kernel::{CalendarId, EventId, OrgId, SignedDuration, Span, Timestamp, Version};

use crate::{Event, EventSource, EventStatus, Recurrence, Reminders};

/// How late something is still told; what is older is dropped (ruling 4.13).
pub const TOLD_WITHIN: SignedDuration = SignedDuration::hours(1);

/// What happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HappeningKind {
    /// An end is reached. Before the others, so that of two that follow each other the first ends first.
    End,
    /// A reminder's offset before the start is reached.
    Reminder,
    /// A start is reached.
    Start,
}

/// Something that an event tells by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Happening {
    /// When it is due.
    pub at: Timestamp,
    /// What it is.
    pub kind: HappeningKind,
    /// Of a series, the start of the occurrence that tells it.
    pub occurrence: Option<Timestamp>,
}

/// Up to where an event has told what it has to tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmittedUntil {
    /// Everything due until then, it included, was told, or is not to be.
    pub all: Timestamp,
    /// Reminders due until then neither: it is later than the other where reminders were written anew since.
    pub reminders: Timestamp,
}

impl EmittedUntil {
    /// Everything until `instant`.
    pub const fn both(instant: Timestamp) -> Self {
        Self { all: instant, reminders: instant }
    }

    /// Without what is dropped at `now`.
    fn bounded(self, now: Timestamp) -> Self {
        let oldest = now - TOLD_WITHIN;
        Self { all: self.all.max(oldest), reminders: self.reminders.max(self.all).max(oldest) }
    }
}

/// When to look at an event next, and up to where it has told what it has to tell. One row an event that still has
/// something to tell, or may have once its calendar says otherwise of reminders.
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
    /// Whether its reminders are its calendar's.
    pub inherits: bool,
    /// When to look at it.
    pub due_at: Timestamp,
    /// Up to where it has told.
    pub told: EmittedUntil,
    /// What [`Event::timing`] said when the row was written.
    pub timing: i64,
}

/// How a timer goes on after it was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Advance {
    /// The organization.
    pub org: OrgId,
    /// The calendar.
    pub calendar: CalendarId,
    /// The event.
    pub event: EventId,
    /// The version of the row that was read; the change-set is stale where it has another.
    pub seen: Version,
    /// When to look again, and up to where everything is told; `None` removes the row.
    pub next: Option<(Timestamp, EmittedUntil)>,
}

impl Event {
    /// The row to keep of this event, which was written at `now`, on a calendar with these default reminders. `None`
    /// where it has nothing to tell any more. What lies in the past when it is written is not told.
    pub fn timer(&self, defaults: Option<&Reminders>, now: Timestamp) -> Option<Timer> {
        let told = EmittedUntil::both(now);
        Some(Timer {
            org: self.org,
            calendar: self.calendar,
            event: self.id,
            hold: self.status == EventStatus::Hold,
            inherits: self.reminders.is_none(),
            due_at: self.look_after(defaults, told)?,
            told,
            timing: self.timing(),
        })
    }

    /// When to look at the event next, everything until `told` being told.
    pub fn look_after(&self, defaults: Option<&Reminders>, told: EmittedUntil) -> Option<Timestamp> {
        if self.deleted_at.is_some() || self.source != EventSource::Internal {
            return None;
        }
        match self.status {
            EventStatus::Hold => self.hold.map(|hold| hold.expires_at),
            EventStatus::Cancelled => None,
            EventStatus::Confirmed | EventStatus::Tentative => {
                let next = self.next_happening(&Reminders::effective(self.reminders.as_ref(), defaults), told);
                // A tentative event without reminders may get some from its calendar until it begins.
                next.or_else(|| self.next_start(told.all))
            }
        }
    }

    /// The first of what the event tells after `told`, with these reminders. The first of
    /// [`happenings`](Self::happenings), found without expanding more of a series than that.
    pub fn next_happening(&self, reminders: &Reminders, told: EmittedUntil) -> Option<Timestamp> {
        let reminded = told.reminders.max(told.all);
        let before = |minutes: &u16| SignedDuration::minutes((*minutes).into());
        let reminder = |minutes: &u16| Some(self.next_start(reminded + before(minutes))? - before(minutes));
        let reminder = reminders.minutes().iter().filter_map(reminder).min();
        let (start, end) = if self.status == EventStatus::Confirmed {
            (self.next_start(told.all), self.next_end(told.all))
        } else {
            (None, None)
        };
        [reminder, start, end].into_iter().flatten().filter(|_| self.tells()).min()
    }

    /// What the event tells after `told` and until `until`, it included, with these reminders; in order. What is due
    /// [`TOLD_WITHIN`] before `until` or earlier is dropped.
    pub fn happenings(&self, reminders: &Reminders, told: EmittedUntil, until: Timestamp) -> Vec<Happening> {
        if !self.tells() {
            return Vec::new();
        }
        let EmittedUntil { all, reminders: reminded } = told.bounded(until);
        let series = self.recurrence().is_some();
        let happening = |kind, at, start| Happening { at, kind, occurrence: series.then_some(start) };
        let mut found = Vec::new();
        for minutes in reminders.minutes() {
            let before = SignedDuration::minutes((*minutes).into());
            let starts = self.starts_within(reminded + before, until + before);
            found.extend(starts.into_iter().map(|start| happening(HappeningKind::Reminder, start - before, start)));
        }
        if self.status == EventStatus::Confirmed {
            let starts = self.starts_within(all, until);
            found.extend(starts.into_iter().map(|start| happening(HappeningKind::Start, start, start)));
            let ended = self.ended_within(all, until);
            found.extend(ended.into_iter().map(|span| happening(HappeningKind::End, span.end(), span.start())));
        }
        found.sort_unstable();
        found
    }

    /// The event as it shows what it tells: of a series, the instance.
    pub fn telling(&self, happening: &Happening) -> Option<Self> {
        match happening.occurrence {
            None => Some(self.clone()),
            Some(start) => self.instance(start),
        }
    }

    /// Whether the event tells anything by itself.
    fn tells(&self) -> bool {
        self.takes_place() && self.source == EventSource::Internal
    }

    /// A mark of all that decides what the event tells by itself and when, but for its calendar's reminders: a write
    /// that leaves it as it is leaves the timer alone. The same on every node and in every release.
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
            // Of what lasts beyond the instant the first to begin is the first to end: all last equally long.
            Some(_) => {
                let ahead = Span::new(instant, Timestamp::HORIZON.max(instant + SignedDuration::days(1))).ok()?;
                Some(self.repeating()?.occurrences(ahead).next()?.end())
            }
        }
    }

    /// The starts after `after` and until `until`.
    fn starts_within(&self, after: Timestamp, until: Timestamp) -> Vec<Timestamp> {
        match self.recurrence() {
            None => {
                let start = self.times.span.start();
                Vec::from_iter((after < start && start <= until).then_some(start))
            }
            Some(_) => self.repeating().map(|series| series.starting(after, until).collect()).unwrap_or_default(),
        }
    }

    /// What ends after `after` and until `until`.
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

/// FNV-1a, which needs no more than to differ where what it was given does.
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
