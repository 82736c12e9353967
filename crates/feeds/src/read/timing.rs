//! The times of an event, after its zones are resolved.

use kalends_calendars::Times;
use kalends_time::{SignedDuration, Span, Timestamp};

use super::clock::Clock;
use super::draft::{Draft, Ends};
use super::feed::SkipReason;
use super::resolve::Resolver;
use super::values::{DAY, Form, Lasting, When};
use crate::limits::NO_LENGTH;

/// The times of an event, in seconds.
#[derive(Debug, Clone)]
pub(super) struct Timing {
    pub(super) clock: Clock,
    /// The start in local time.
    pub(super) local: i64,
    pub(super) start: i64,
    pub(super) lasts: Lasts,
}

/// The length of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lasts {
    /// Whole days, at least one.
    Days(i64),
    /// Seconds. 0 is an event without a length.
    Time(i64),
    /// Nominal days, at least one, followed by seconds of elapsed time (RFC 5545 section 3.3.6). Only an event with a
    /// time of day has such a length.
    Nominal(Lasting),
}

impl Timing {
    /// The local time, by the clock of this event, of an `EXDATE`, an `RDATE` or a `RECURRENCE-ID`, in seconds. A date
    /// means the occurrence of that day. In a series of whole days, a time means its day.
    pub(super) fn local_of(&self, when: When, calendar: usize, zones: &mut Resolver<'_>) -> i64 {
        match (self.is_all_day(), when.form) {
            (true, Form::Utc) if when.local.rem_euclid(DAY) != 0 => {
                self.clock.shows(Clock::UTC.at(when.local)).div_euclid(DAY) * DAY
            }
            (true, _) => when.day() * DAY,
            (false, Form::Date) => when.local + self.local.rem_euclid(DAY),
            (false, Form::Floating) => when.local,
            (false, form) => self.clock.shows(zones.clock(form, calendar).at(when.local)),
        }
    }

    /// The same as [`Self::local_of`], but as an instant in seconds.
    pub(super) fn start_of(&self, when: When, calendar: usize, zones: &mut Resolver<'_>) -> i64 {
        match when.form {
            // A conversion through the wall clock would turn the second of two equal times into the first.
            Form::Utc | Form::Zoned(_) if !self.is_all_day() => zones.clock(when.form, calendar).seconds_at(when.local),
            _ => self.clock.seconds_at(self.local_of(when, calendar, zones)),
        }
    }

    /// The times of `draft`.
    pub(super) fn of(draft: &Draft, zones: &mut Resolver<'_>) -> Result<Self, SkipReason> {
        let start = draft.start.ok_or(SkipReason::NoStart)?;
        let clock = zones.clock(start.form, draft.calendar);
        let ends = match (draft.end, draft.lasting) {
            (Some(end), _) => Ends::At(end),
            (None, Some(lasting)) => Ends::After(lasting),
            (None, None) => Ends::AsEvent,
        };
        Self::from(start, clock, ends, Lasts::Time(0), draft.calendar, zones)
    }

    /// The times of an event from its start and its end. If it has no end, its length is `otherwise`.
    pub(super) fn from(
        start: When,
        clock: Clock,
        ends: Ends,
        otherwise: Lasts,
        calendar: usize,
        zones: &mut Resolver<'_>,
    ) -> Result<Self, SkipReason> {
        let at = clock.seconds_at(start.local);
        let lasts = if start.is_date() {
            days(start, ends, otherwise)?
        } else {
            match ends {
                Ends::AsEvent => otherwise,
                Ends::At(end) => Lasts::Time(elapsed(start, at, end, &clock, calendar, zones)),
                Ends::After(Lasting { days: 0, seconds }) => Lasts::Time(seconds),
                Ends::After(lasting) => Lasts::Nominal(lasting),
            }
        };
        let timing = Self { clock, local: start.local, start: at, lasts };
        if timing.end() < timing.start { Err(SkipReason::EndBeforeStart) } else { Ok(timing) }
    }

    pub(super) const fn is_all_day(&self) -> bool {
        matches!(self.lasts, Lasts::Days(_))
    }

    /// Whether it has no length.
    pub(super) const fn is_empty(&self) -> bool {
        matches!(self.lasts, Lasts::Time(0))
    }

    /// The same event, starting at another local time.
    pub(super) fn moved_to(&self, local: i64) -> Self {
        Self { local, start: self.clock.seconds_at(local), ..self.clone() }
    }

    pub(super) fn end(&self) -> i64 {
        match self.lasts {
            Lasts::Time(0) => self.start.saturating_add(NO_LENGTH.as_seconds()),
            Lasts::Time(seconds) => self.start.saturating_add(seconds),
            Lasts::Nominal(Lasting { days, seconds }) => {
                self.clock.seconds_at(self.local.saturating_add(days.saturating_mul(DAY))).saturating_add(seconds)
            }
            Lasts::Days(days) => {
                let day = self.local.div_euclid(DAY).saturating_add(days);
                let end = self.clock.seconds_at(day.saturating_mul(DAY));
                // If the clocks skip the date, the event takes the next one.
                if end > self.start { end } else { self.clock.seconds_at((day + 1).saturating_mul(DAY)) }
            }
        }
    }

    /// The time from its start to its end. Saturates, because a `DURATION` may be longer than microseconds can count.
    pub(super) fn length(&self) -> SignedDuration {
        SignedDuration::micros(self.end().saturating_sub(self.start).saturating_mul(1_000_000))
    }

    /// The times to store. `None` outside the years 1970 to 2099.
    pub(super) fn times(&self) -> Option<Times> {
        let (start, end) = (instant(self.start), instant(self.end()));
        let inside = Timestamp::EPOCH <= start && start < Timestamp::HORIZON && end <= Timestamp::HORIZON;
        let span = Span::new(start, end).ok().filter(|_| inside)?;
        Some(Times { span, all_day: self.is_all_day() })
    }
}

pub(super) const fn instant(seconds: i64) -> Timestamp {
    Timestamp::from_micros(seconds.saturating_mul(1_000_000))
}

/// The number of days of an event of whole days, at least one.
fn days(start: When, ends: Ends, otherwise: Lasts) -> Result<Lasts, SkipReason> {
    let up = |seconds: i64| seconds.saturating_add(DAY - 1).div_euclid(DAY);
    let days = match ends {
        Ends::AsEvent => match otherwise {
            Lasts::Days(days) => days,
            Lasts::Time(seconds) => up(seconds),
            Lasts::Nominal(Lasting { days, seconds }) => days.saturating_add(up(seconds)),
        },
        // An end within a day includes that day.
        Ends::At(end) => up(end.local) - start.day(),
        Ends::After(Lasting { days, seconds }) => days.saturating_add(up(seconds)),
    };
    if days < 0 { Err(SkipReason::EndBeforeStart) } else { Ok(Lasts::Days(days.max(1))) }
}

fn elapsed(start: When, at: i64, end: When, clock: &Clock, calendar: usize, zones: &mut Resolver<'_>) -> i64 {
    let ends_at =
        if end.is_date() { clock.seconds_at(end.local) } else { zones.clock(end.form, calendar).seconds_at(end.local) };
    let by_wall_clock = end.local - start.local;
    // If the start is in a gap but the end is not, the event is moved as a whole.
    if ends_at <= at && by_wall_clock > 0 && end.form == start.form { by_wall_clock } else { ends_at - at }
}
