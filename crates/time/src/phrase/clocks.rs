//! When the clocks of a zone show a time.

use crate::{CivilDate, CivilDateTime, SignedDuration, Timestamp, Zone};

/// When the clocks show a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    Once(Timestamp),
    Twice(Timestamp, Timestamp),
    /// They skip it. The timestamp is that of the change.
    Never(Timestamp),
}

impl Shown {
    /// When the clocks of the zone show `civil`; `None` if it is outside the supported calendar.
    pub(super) fn at(civil: CivilDateTime, zone: Zone) -> Option<Self> {
        let (first, period) = zone.to_timestamp_in_period(civil)?;
        let Some(change) = period.end else { return Some(Self::Once(first)) };
        if zone.to_civil(first) != civil {
            return Some(Self::Never(change));
        }
        let back = period.offset.as_micros() - zone.offset_at(change).as_micros();
        let second = first + SignedDuration::micros(back);
        let twice = second > first && zone.to_civil(second) == civil;
        Some(if twice { Self::Twice(first, second) } else { Self::Once(first) })
    }

    /// The first timestamp from which the clocks show at least that time.
    pub(super) fn first(self) -> Timestamp {
        match self {
            Self::Once(at) | Self::Twice(at, _) | Self::Never(at) => at,
        }
    }

    /// The last timestamp at which they show it.
    pub(super) fn last(self) -> Timestamp {
        match self {
            Self::Once(at) | Self::Twice(_, at) | Self::Never(at) => at,
        }
    }
}

/// The first moment of a day.
pub(super) fn day_start(date: CivilDate, zone: Zone) -> Option<Timestamp> {
    Shown::at(date.midnight(), zone).map(Shown::first)
}

/// A timestamp as RFC 3339 with the offset of the zone, or with `Z` if the offset has seconds.
pub(super) fn with_offset(at: Timestamp, zone: Zone) -> String {
    let offset = zone.offset_at(at).as_seconds();
    if offset % 60 != 0 {
        return at.to_string();
    }
    let (sign, minutes) = (if offset < 0 { '-' } else { '+' }, offset.abs() / 60);
    format!("{}{sign}{:02}:{:02}", zone.to_civil(at), minutes / 60, minutes % 60)
}
