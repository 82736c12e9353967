//! Wall clocks: of a zone that is known, or of one that the feed describes itself.

use std::rc::Rc;

use kalends_kernel::{Timestamp, Zone};

use super::values::{DAY, civil};

/// What ties local times to instants.
#[derive(Debug, Clone)]
pub(super) enum Clock {
    Zone(Zone),
    /// A zone that the feed describes and the database does not have.
    Described(Rc<Transitions>),
}

impl Clock {
    pub(super) const UTC: Self = Self::Zone(Zone::UTC);

    /// The zone, if it is a known one.
    pub(super) const fn zone(&self) -> Option<Zone> {
        match self {
            Self::Zone(zone) => Some(*zone),
            Self::Described(_) => None,
        }
    }

    /// Whether it is the same clock, so that a time that it shows is the same time there.
    pub(super) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Zone(one), Self::Zone(other)) => one == other,
            (Self::Described(one), Self::Described(other)) => one == other,
            _ => false,
        }
    }

    /// The instant in seconds at which the clock shows `local`: of two the first; a skipped time is moved
    /// forward by the gap (RFC 5545 section 3.3.5).
    pub(super) fn seconds_at(&self, local: i64) -> i64 {
        match self {
            Self::Zone(zone) if *zone == Zone::UTC => local,
            // The calendar ends long after all years that are taken.
            Self::Zone(zone) => zone.to_timestamp(civil(local)).map_or(local, Timestamp::as_unix_seconds),
            Self::Described(transitions) => transitions.seconds_at(local),
        }
    }

    pub(super) fn at(&self, local: i64) -> Timestamp {
        Timestamp::from_micros(self.seconds_at(local).saturating_mul(1_000_000))
    }

    /// What the clock shows at an instant, in local seconds.
    pub(super) fn shows(&self, instant: Timestamp) -> i64 {
        let seconds = instant.as_unix_seconds();
        match self {
            Self::Zone(zone) => seconds + zone.offset_at(instant).as_seconds(),
            Self::Described(transitions) => seconds + transitions.offset_at(seconds),
        }
    }
}

/// When the offset of a zone changes, all in seconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Transitions {
    /// What holds before the first change.
    pub(super) before: i64,
    /// The instants of the changes, ascending, and the offset from then on.
    pub(super) changes: Vec<(i64, i64)>,
}

impl Transitions {
    pub(super) fn offset_at(&self, seconds: i64) -> i64 {
        let after = self.changes.partition_point(|(at, _)| *at <= seconds);
        after.checked_sub(1).and_then(|last| self.changes.get(last)).map_or(self.before, |(_, offset)| *offset)
    }

    fn seconds_at(&self, local: i64) -> i64 {
        // No offset is a day or more, so that these are the offsets before and after any change nearby.
        let (before, after) = (self.offset_at(local - DAY), self.offset_at(local + DAY));
        let candidates = [local - before, local - after];
        let shown = candidates.into_iter().filter(|seconds| seconds + self.offset_at(*seconds) == local).min();
        shown.unwrap_or(local - before)
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
