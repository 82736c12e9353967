//! The grid of slots of a page.

use kalends_availability::{Hours, Week};
use kalends_time::{CivilDate, CivilDateTime, CivilTime, SignedDuration, Span, Timestamp, Zone};

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;

/// The rule that places slots: on each date of the zone, one after the other from the start of that date's hours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timetable {
    /// The length of a slot, and the step by the wall clock from one slot to the next: 5-480 minutes.
    pub duration_minutes: u16,
    /// The zone of the hours and dates.
    pub zone: Zone,
    /// The hours of each weekday; a missing weekday is closed. `None` is always open.
    pub constraints: Option<Week<Hours>>,
}

/// A date on which to look for slots.
struct Day {
    date: CivilDate,
    /// The midnight of the date in UTC, for arithmetic.
    midnight: Timestamp,
    /// The offset from UTC, if it is the same from the day before to the day after.
    ahead: Option<SignedDuration>,
}

impl Timetable {
    /// The length of a slot.
    pub fn length(&self) -> SignedDuration {
        SignedDuration::minutes(self.duration_minutes.into())
    }

    /// All slots that are wholly within `window`, by start. No two begin at the same time. The iterator is lazy.
    ///
    /// A slot begins when the clocks show its time; if they show it twice, it begins the first time. Its length is
    /// elapsed time. It must end within the hours of its date in two ways: by the wall clock (its start plus its
    /// length), and in elapsed time, which differs if the clocks change during the slot. Takes *O*(*d* + *s*) for *d*
    /// days and *s* slots.
    pub fn grid(&self, window: Span) -> impl Iterator<Item = Span> {
        let date = |at| self.zone.to_civil(at).date;
        // When clocks go back over midnight, a date comes again after the next one has begun.
        let (first, last) = (date(window.start()).plus_days(-1), date(window.end()).plus_days(1));
        (first.as_days()..=last.as_days()).flat_map(move |day| self.slots_on(CivilDate::from_days(day), window))
    }

    /// The slot that begins at `start`, if there is one.
    pub fn slot_at(&self, start: Timestamp) -> Option<Span> {
        let slot = Span::new(start, start + self.length()).ok()?;
        self.grid(slot).find(|found| *found == slot)
    }

    fn slots_on(&self, date: CivilDate, window: Span) -> impl Iterator<Item = Span> {
        let open = self.hours_on(date).and_then(|hours| {
            let last = hours.end().checked_sub(self.duration_minutes)?;
            let day = self.day(date);
            let until = window.end().min(day.closes(hours, self.zone)?);
            Some((hours.start()..=last, day, until))
        });
        let step = usize::from(self.duration_minutes.max(1));
        open.into_iter().flat_map(move |(minutes, day, until)| {
            minutes.step_by(step).filter_map(move |minute| {
                let start = day.first_shows(minute, self.zone)?;
                let end = start + self.length();
                if start < window.start() || end > until { None } else { Span::new(start, end).ok() }
            })
        })
    }

    fn hours_on(&self, date: CivilDate) -> Option<Hours> {
        match &self.constraints {
            Some(week) => week.on(date).copied(),
            None => Some(Hours::ALL_DAY),
        }
    }

    fn day(&self, date: CivilDate) -> Day {
        const DAY: SignedDuration = SignedDuration::days(1);
        let midnight = Timestamp::from_micros(0) + SignedDuration::days(date.as_days());
        // The date is between these two instants in every zone, and no zone changes its offset twice in that time.
        let (before, after) = (midnight - DAY, midnight + DAY + DAY);
        const { assert!(3 * DAY.as_micros() < Zone::BETWEEN_CHANGES.as_micros()) };
        let ahead = self.zone.offset_at(before);
        Day { date, midnight, ahead: (self.zone.offset_at(after) == ahead).then_some(ahead) }
    }
}

impl Day {
    /// When the clocks first show `minute` minutes after midnight; `None` if they skip that time.
    fn first_shows(&self, minute: u16, zone: Zone) -> Option<Timestamp> {
        match self.ahead {
            Some(ahead) => Some(self.midnight + SignedDuration::minutes(minute.into()) - ahead),
            None => {
                let civil = CivilDateTime {
                    date: self.date,
                    time: CivilTime::from_micros(SignedDuration::minutes(minute.into()).as_micros())?,
                };
                let instant = zone.to_timestamp(civil)?;
                (zone.to_civil(instant) == civil).then_some(instant)
            }
        }
    }

    /// When the hours end.
    fn closes(&self, hours: Hours, zone: Zone) -> Option<Timestamp> {
        match self.ahead {
            Some(ahead) => Some(self.midnight + SignedDuration::minutes(hours.end().into()) - ahead),
            None => hours.closes(self.date, zone),
        }
    }
}
