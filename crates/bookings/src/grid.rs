//! Where the slots of a page lie (ruling 5.4).

use kalends_availability::{Hours, Week};
use kalends_kernel::{CivilDate, CivilDateTime, CivilTime, SignedDuration, Span, Timestamp, Zone};

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;

/// What says where slots lie: on each date of a zone one after the other, from the beginning of its hours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timetable {
    /// How long a slot is, and how far two of them begin apart by the clock: 5-480 minutes.
    pub duration_minutes: u16,
    /// Whose clocks and dates are meant.
    pub zone: Zone,
    /// When each weekday is open, a weekday that is missing being closed; `None` is always.
    pub constraints: Option<Week<Hours>>,
}

/// A date on which slots are looked for.
struct Day {
    date: CivilDate,
    /// Its midnight as the clocks of UTC show it: something to reckon with.
    midnight: Timestamp,
    /// How far the clocks are ahead of UTC, where they are so from the day before to the day after.
    ahead: Option<SignedDuration>,
}

impl Timetable {
    /// How long a slot is.
    pub fn length(&self) -> SignedDuration {
        SignedDuration::minutes(self.duration_minutes.into())
    }

    /// All slots that lie wholly within `window`, by start, each worked out when it is asked for; no two begin together.
    ///
    /// A slot begins at a time that the clocks show, the first time where they show it twice, and lasts as long as it
    /// says. It ends within the hours of its date by what the clocks' faces say (its start and its length added up) and
    /// in fact, should the clocks be set meanwhile. Takes *O*(*d* + *s*) for *d* days and *s* slots.
    pub fn grid(&self, window: Span) -> impl Iterator<Item = Span> {
        let date = |at| self.zone.to_civil(at).date;
        // A date may come again after the next one has begun.
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
        // The date lies between these two instants in every zone, and no zone changes twice within that time.
        let (before, after) = (midnight - DAY, midnight + DAY + DAY);
        const { assert!(3 * DAY.as_micros() < Zone::BETWEEN_CHANGES.as_micros()) };
        let ahead = self.zone.offset_at(before);
        Day { date, midnight, ahead: (self.zone.offset_at(after) == ahead).then_some(ahead) }
    }
}

impl Day {
    /// When the clocks first show so many minutes after midnight; `None` where they skip that.
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
