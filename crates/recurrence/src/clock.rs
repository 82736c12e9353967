//! Converts wall-clock times to timestamps and back, and reuses the last offset for times at which it cannot have
//! changed.

use kalends_time::{CivilDateTime, Timestamp, Zone};

pub(crate) const MICROS_A_DAY: i64 = 86_400_000_000;

/// A zone, and a range of times in which its offset stays the same.
///
/// Both kinds of time are counted in microseconds: timestamps from the epoch, wall-clock times from 1970-01-01T00:00
/// on that clock.
#[derive(Debug, Clone)]
pub(crate) struct Clock {
    zone: Zone,
    /// The offset from UTC while the wall clock shows a time from `from` up to but not including `until`, for the first
    /// time if it shows it twice.
    offset: i64,
    from: i64,
    until: i64,
}

impl Clock {
    pub(crate) fn new(zone: Zone) -> Self {
        // UTC never changes. For other zones, nothing is known yet.
        let (from, until) = if zone == Zone::UTC { (i64::MIN, i64::MAX) } else { (i64::MAX, i64::MIN) };
        Self { zone, offset: 0, from, until }
    }

    /// The timestamp at which the clock shows `local`. A time in an overlap is the first of the two; a time in a gap
    /// is moved forward by the length of the gap (RFC 5545 section 3.3.5).
    #[inline]
    pub(crate) fn instant(&mut self, local: i64) -> i64 {
        if self.from <= local && local < self.until { local - self.offset } else { self.look_up(local) }
    }

    /// What the clock shows at `instant`.
    pub(crate) fn shows(&self, instant: i64) -> i64 {
        let local = instant.saturating_add(self.offset);
        if self.from <= local && local < self.until { local } else { local_of(self.zone, instant) }
    }

    #[cold]
    fn look_up(&mut self, local: i64) -> i64 {
        // Dates that a timestamp cannot hold are far outside the reach of a series.
        let Some((instant, period)) = self.zone.to_timestamp_in_period(CivilDateTime::from_micros(local)) else {
            return local;
        };
        self.offset = period.offset.as_micros();
        // The first half of an overlap belongs to the period before, and so does a gap.
        let first_ahead = self.offset.max(period.offset_before.as_micros());
        self.from = period.start.map_or(i64::MIN, |start| start.as_micros().saturating_add(first_ahead));
        self.until = period.end.map_or(i64::MAX, |end| end.as_micros().saturating_add(self.offset));
        instant.as_micros()
    }
}

/// What a clock in `zone` shows at `instant`.
pub(crate) fn local_of(zone: Zone, instant: i64) -> i64 {
    if zone == Zone::UTC {
        return instant;
    }
    instant.saturating_add(zone.offset_at(Timestamp::from_micros(instant)).as_micros())
}
