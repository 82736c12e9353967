//! Wall clocks of known zones, and of zones that a feed describes itself.

use std::rc::Rc;

use kalends_time::{Timestamp, Zone};

use super::values::{DAY, civil};

/// Converts between local times and instants.
#[derive(Debug, Clone)]
pub(super) enum Clock {
    Zone(Zone),
    /// A zone that the feed describes and the database does not have.
    Described(Rc<Transitions>),
}

impl Clock {
    pub(super) const UTC: Self = Self::Zone(Zone::UTC);

    /// The zone, if it is known.
    pub(super) const fn zone(&self) -> Option<Zone> {
        match self {
            Self::Zone(zone) => Some(*zone),
            Self::Described(_) => None,
        }
    }

    /// Whether both are the same clock, so that a local time means the same instant on both.
    pub(super) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Zone(one), Self::Zone(other)) => one == other,
            (Self::Described(one), Self::Described(other)) => one == other,
            _ => false,
        }
    }

    /// The instant in seconds at which the clock shows `local`. If it shows the time twice, the first. A time in a gap
    /// moves forward by the length of the gap (RFC 5545 section 3.3.5).
    pub(super) fn seconds_at(&self, local: i64) -> i64 {
        match self {
            Self::Zone(zone) if *zone == Zone::UTC => local,
            // Only a length far beyond all supported years passes the end of `CivilDate`, and such an event is skipped.
            Self::Zone(zone) => zone.to_timestamp(civil(local)).map_or(local, Timestamp::as_unix_seconds),
            Self::Described(transitions) => transitions.seconds_at(local),
        }
    }

    pub(super) fn at(&self, local: i64) -> Timestamp {
        Timestamp::from_micros(self.seconds_at(local).saturating_mul(1_000_000))
    }

    /// The local time at an instant, in seconds.
    pub(super) fn shows(&self, instant: Timestamp) -> i64 {
        let seconds = instant.as_unix_seconds();
        match self {
            Self::Zone(zone) => seconds + zone.offset_at(instant).as_seconds(),
            Self::Described(transitions) => seconds + transitions.offset_at(seconds),
        }
    }
}

/// The offset changes of a zone, in seconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Transitions {
    /// The offset before the first change.
    pub(super) before: i64,
    /// The instants of the changes, ascending, each with the offset from then on.
    pub(super) changes: Vec<(i64, i64)>,
}

impl Transitions {
    pub(super) fn offset_at(&self, seconds: i64) -> i64 {
        let after = self.changes.partition_point(|(at, _)| *at <= seconds);
        after.checked_sub(1).and_then(|last| self.changes.get(last)).map_or(self.before, |(_, offset)| *offset)
    }

    fn seconds_at(&self, local: i64) -> i64 {
        // No offset is a day or more, so these are the offsets before and after any change nearby.
        let (before, after) = (self.offset_at(local - DAY), self.offset_at(local + DAY));
        let candidates = [local - before, local - after];
        let first_match = candidates.into_iter().filter(|seconds| seconds + self.offset_at(*seconds) == local).min();
        first_match.unwrap_or(local - before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_and_repeated_hours() {
        // Berlin in 2026: summer time from 2026-03-29T01:00Z to 2026-10-25T01:00Z.
        let berlin = Transitions { before: 3_600, changes: vec![(1_774_746_000, 7_200), (1_792_890_000, 3_600)] };
        let (table, zone) = (Clock::Described(Rc::new(berlin)), Clock::Zone("Europe/Berlin".parse().unwrap()));
        for quarter in 0..4 * 24 * 365 {
            let local = 1_767_225_600 + quarter * 900;
            assert_eq!(table.seconds_at(local), zone.seconds_at(local), "{local}");
            let instant = Timestamp::from_micros(local * 1_000_000);
            assert_eq!(table.shows(instant), zone.shows(instant), "{local}");
        }
    }
}
