//! Conversions to and from the types of `chrono`.

use chrono::{DateTime, Datelike as _, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, TimeZone, Timelike as _, Utc};

use crate::{CivilDate, CivilDateTime, CivilTime, OutOfRange, SignedDuration, Timestamp};

/// Digits beyond microseconds are cut off, towards the past. A leap second counts as the second after it.
impl<Tz: TimeZone> From<DateTime<Tz>> for Timestamp {
    fn from(theirs: DateTime<Tz>) -> Self {
        Self::from_micros(theirs.timestamp_micros())
    }
}

/// Fails beyond the years that chrono supports, about -262,000 to 262,000.
impl TryFrom<Timestamp> for DateTime<Utc> {
    type Error = OutOfRange;

    fn try_from(ours: Timestamp) -> Result<Self, OutOfRange> {
        Self::from_timestamp_micros(ours.as_micros()).ok_or(OutOfRange::new("the timestamp", "chrono::DateTime"))
    }
}

impl From<NaiveDate> for CivilDate {
    fn from(theirs: NaiveDate) -> Self {
        Self::from_days(i64::from(theirs.num_days_from_ce()) - 719_163)
    }
}

/// Fails beyond the years that chrono supports, about -262,000 to 262,000.
impl TryFrom<CivilDate> for NaiveDate {
    type Error = OutOfRange;

    fn try_from(ours: CivilDate) -> Result<Self, OutOfRange> {
        let (year, month, day) = ours.year_month_day();
        Self::from_ymd_opt(year, month, day).ok_or(OutOfRange::new("the date", "chrono::NaiveDate"))
    }
}

/// Digits beyond microseconds are cut off. A leap second counts as the second before it.
impl From<NaiveTime> for CivilTime {
    fn from(theirs: NaiveTime) -> Self {
        let micros = i64::from(theirs.nanosecond() / 1_000).min(999_999);
        // A time of day is within the day.
        Self::from_micros(i64::from(theirs.num_seconds_from_midnight()) * 1_000_000 + micros).unwrap_or(Self::MIDNIGHT)
    }
}

impl From<CivilTime> for NaiveTime {
    fn from(ours: CivilTime) -> Self {
        // A time of day is within the day.
        Self::MIN + TimeDelta::microseconds(ours.as_micros())
    }
}

impl From<NaiveDateTime> for CivilDateTime {
    fn from(theirs: NaiveDateTime) -> Self {
        Self { date: theirs.date().into(), time: theirs.time().into() }
    }
}

/// Fails beyond the years that chrono supports, about -262,000 to 262,000.
impl TryFrom<CivilDateTime> for NaiveDateTime {
    type Error = OutOfRange;

    fn try_from(ours: CivilDateTime) -> Result<Self, OutOfRange> {
        Ok(NaiveDate::try_from(ours.date)?.and_time(ours.time.into()))
    }
}

/// Fails beyond about 292,000 years. Digits beyond microseconds are cut off.
impl TryFrom<TimeDelta> for SignedDuration {
    type Error = OutOfRange;

    fn try_from(theirs: TimeDelta) -> Result<Self, OutOfRange> {
        theirs.num_microseconds().map(Self::micros).ok_or(OutOfRange::new("the duration", "SignedDuration"))
    }
}

impl From<SignedDuration> for TimeDelta {
    fn from(ours: SignedDuration) -> Self {
        Self::microseconds(ours.as_micros())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Zone;

    proptest! {
        /// Timestamps, civil times and durations convert to those of `chrono` and back.
        #[test]
        fn chrono_types_round_trip(micros in -62_135_596_800_000_000_i64..253_370_764_800_000_000) {
            let ours = Timestamp::from_micros(micros);
            let theirs = DateTime::<Utc>::try_from(ours).unwrap();
            prop_assert_eq!(Timestamp::from(theirs), ours);
            let civil = Zone::UTC.to_civil(ours);
            prop_assert_eq!(NaiveDateTime::try_from(civil).unwrap(), theirs.naive_utc());
            prop_assert_eq!(CivilDateTime::from(theirs.naive_utc()), civil);
            let duration = SignedDuration::micros(micros);
            prop_assert_eq!(SignedDuration::try_from(TimeDelta::from(duration)), Ok(duration));
        }
    }
}
