//! Conversions to and from the types of `jiff` and of the standard library.

use std::time::{Duration, SystemTime};

use jiff::civil;

use crate::{CivilDate, CivilDateTime, CivilTime, SignedDuration, Timestamp, Zone, ZoneError};

/// A value that the other type cannot hold.
///
/// ```
/// use kalends_time::{OutOfRange, Timestamp, jiff};
///
/// let late = Timestamp::from_micros(i64::MAX);
/// let error: OutOfRange = jiff::Timestamp::try_from(late).unwrap_err();
/// assert_eq!(error.to_string(), "the timestamp is outside the range of jiff::Timestamp");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{value} is outside the range of {range}")]
pub struct OutOfRange {
    /// What was converted.
    value: &'static str,
    /// The type that it does not fit in.
    range: &'static str,
}

impl OutOfRange {
    pub(crate) const fn new(value: &'static str, range: &'static str) -> Self {
        Self { value, range }
    }
}

/// Digits beyond microseconds are cut off, towards the past.
impl From<jiff::Timestamp> for Timestamp {
    fn from(theirs: jiff::Timestamp) -> Self {
        let nanos = theirs.as_nanosecond().div_euclid(1_000);
        // The range of jiff's type is smaller than that of this one.
        Self::from_micros(i64::try_from(nanos).unwrap_or(if nanos < 0 { i64::MIN } else { i64::MAX }))
    }
}

/// Fails outside the years -9999 to 9999.
impl TryFrom<Timestamp> for jiff::Timestamp {
    type Error = OutOfRange;

    fn try_from(ours: Timestamp) -> Result<Self, OutOfRange> {
        Self::from_microsecond(ours.as_micros()).map_err(|_| OutOfRange::new("the timestamp", "jiff::Timestamp"))
    }
}

impl From<&jiff::Zoned> for Timestamp {
    fn from(theirs: &jiff::Zoned) -> Self {
        theirs.timestamp().into()
    }
}

/// What the wall clock shows. Digits beyond microseconds are cut off.
impl From<&jiff::Zoned> for CivilDateTime {
    fn from(theirs: &jiff::Zoned) -> Self {
        theirs.datetime().into()
    }
}

/// Fails for a zone without an IANA name, such as a fixed offset, and for a name that is not in the database.
impl TryFrom<&jiff::Zoned> for Zone {
    type Error = ZoneError;

    fn try_from(theirs: &jiff::Zoned) -> Result<Self, ZoneError> {
        theirs.time_zone().try_into()
    }
}

/// Fails for a zone without an IANA name, such as a fixed offset, and for a name that is not in the database.
impl TryFrom<&jiff::tz::TimeZone> for Zone {
    type Error = ZoneError;

    fn try_from(theirs: &jiff::tz::TimeZone) -> Result<Self, ZoneError> {
        theirs.iana_name().unwrap_or_default().parse()
    }
}

impl Zone {
    /// The same zone as one of `jiff`, with the rules of the compiled-in database.
    ///
    /// ```
    /// use kalends_time::Zone;
    ///
    /// let berlin: Zone = "Europe/Berlin".parse()?;
    /// assert_eq!(berlin.to_jiff().iana_name(), Some("Europe/Berlin"));
    /// # Ok::<(), kalends_time::ZoneError>(())
    /// ```
    pub fn to_jiff(self) -> jiff::tz::TimeZone {
        self.time_zone()
    }

    /// The timestamp with the wall clock of this zone, as `jiff` has it.
    ///
    /// # Errors
    /// [`OutOfRange`] outside the years -9999 to 9999.
    ///
    /// ```
    /// use kalends_time::{Timestamp, Zone};
    ///
    /// let tokyo: Zone = "Asia/Tokyo".parse()?;
    /// let zoned = tokyo.to_zoned("2026-03-01T09:00:00Z".parse()?)?;
    /// assert_eq!(zoned.to_string(), "2026-03-01T18:00:00+09:00[Asia/Tokyo]");
    /// assert!(tokyo.to_zoned(Timestamp::from_micros(i64::MAX)).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_zoned(self, timestamp: Timestamp) -> Result<jiff::Zoned, OutOfRange> {
        Ok(jiff::Timestamp::try_from(timestamp)?.to_zoned(self.time_zone()))
    }
}

impl From<civil::Date> for CivilDate {
    fn from(theirs: civil::Date) -> Self {
        let (year, month, day) = (i32::from(theirs.year()), theirs.month(), theirs.day());
        // The numbers come from a date, so they are one. Months and days are positive.
        Self::new(year, month.unsigned_abs().into(), day.unsigned_abs().into()).unwrap_or(Self::EPOCH)
    }
}

/// Fails outside the years -9999 to 9999.
impl TryFrom<CivilDate> for civil::Date {
    type Error = OutOfRange;

    fn try_from(ours: CivilDate) -> Result<Self, OutOfRange> {
        let out_of_range = OutOfRange::new("the date", "jiff::civil::Date");
        let (year, month, day) = ours.year_month_day();
        let (year, month, day) = (i16::try_from(year), i8::try_from(month), i8::try_from(day));
        let (Ok(year), Ok(month), Ok(day)) = (year, month, day) else { return Err(out_of_range) };
        Self::new(year, month, day).map_err(|_| out_of_range)
    }
}

/// Digits beyond microseconds are cut off.
impl From<civil::Time> for CivilTime {
    fn from(theirs: civil::Time) -> Self {
        let seconds = (i64::from(theirs.hour()) * 60 + i64::from(theirs.minute())) * 60 + i64::from(theirs.second());
        // A time of day is within the day.
        Self::from_micros(seconds * 1_000_000 + i64::from(theirs.subsec_nanosecond()) / 1_000).unwrap_or(Self::MIDNIGHT)
    }
}

impl From<CivilTime> for civil::Time {
    fn from(ours: CivilTime) -> Self {
        // A time of day is within the day, so the fallback is never taken.
        civil::Time::midnight().checked_add(jiff::SignedDuration::from_micros(ours.as_micros())).unwrap_or_default()
    }
}

impl From<civil::DateTime> for CivilDateTime {
    fn from(theirs: civil::DateTime) -> Self {
        Self { date: theirs.date().into(), time: theirs.time().into() }
    }
}

/// Fails outside the years -9999 to 9999.
impl TryFrom<CivilDateTime> for civil::DateTime {
    type Error = OutOfRange;

    fn try_from(ours: CivilDateTime) -> Result<Self, OutOfRange> {
        Ok(civil::Date::try_from(ours.date)?.to_datetime(ours.time.into()))
    }
}

/// Fails beyond about 292,000 years. Digits beyond microseconds are cut off.
impl TryFrom<jiff::SignedDuration> for SignedDuration {
    type Error = OutOfRange;

    fn try_from(theirs: jiff::SignedDuration) -> Result<Self, OutOfRange> {
        let micros = i64::try_from(theirs.as_micros());
        micros.map(Self::micros).map_err(|_| OutOfRange::new("the duration", "SignedDuration"))
    }
}

impl From<SignedDuration> for jiff::SignedDuration {
    fn from(ours: SignedDuration) -> Self {
        Self::from_micros(ours.as_micros())
    }
}

/// Fails beyond about 292,000 years. Digits beyond microseconds are cut off.
impl TryFrom<Duration> for SignedDuration {
    type Error = OutOfRange;

    fn try_from(theirs: Duration) -> Result<Self, OutOfRange> {
        let micros = i64::try_from(theirs.as_micros());
        micros.map(Self::micros).map_err(|_| OutOfRange::new("the duration", "SignedDuration"))
    }
}

/// Fails for a negative duration.
impl TryFrom<SignedDuration> for Duration {
    type Error = OutOfRange;

    fn try_from(ours: SignedDuration) -> Result<Self, OutOfRange> {
        let micros = u64::try_from(ours.as_micros());
        micros.map(Self::from_micros).map_err(|_| OutOfRange::new("a negative duration", "std::time::Duration"))
    }
}

/// Fails beyond about 292,000 years from 1970. Digits beyond microseconds are cut off, towards 1970.
impl TryFrom<SystemTime> for Timestamp {
    type Error = OutOfRange;

    fn try_from(theirs: SystemTime) -> Result<Self, OutOfRange> {
        Ok(match theirs.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => Self::EPOCH + SignedDuration::try_from(after)?,
            Err(before) => Self::EPOCH - SignedDuration::try_from(before.duration())?,
        })
    }
}

/// Fails if the operating system's type cannot hold the time.
impl TryFrom<Timestamp> for SystemTime {
    type Error = OutOfRange;

    fn try_from(ours: Timestamp) -> Result<Self, OutOfRange> {
        let distance = Duration::from_micros(ours.as_micros().unsigned_abs());
        let time = if ours < Timestamp::EPOCH {
            Self::UNIX_EPOCH.checked_sub(distance)
        } else {
            Self::UNIX_EPOCH.checked_add(distance)
        };
        time.ok_or(OutOfRange::new("the timestamp", "std::time::SystemTime"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{any_zone, timestamp};

    /// Microseconds of the years 1 to 9998, which every type here can hold in every zone.
    fn micros() -> impl Strategy<Value = i64> {
        -62_135_596_800_000_000_i64..253_370_764_800_000_000
    }

    proptest! {
        /// Timestamps and civil times convert to those of `jiff` and back.
        #[test]
        fn jiff_types_round_trip(micros in micros()) {
            let ours = Timestamp::from_micros(micros);
            let theirs = jiff::Timestamp::try_from(ours).unwrap();
            prop_assert_eq!(theirs.as_microsecond(), micros);
            prop_assert_eq!(Timestamp::from(theirs), ours);

            let civil = Zone::UTC.to_civil(ours);
            let datetime = civil::DateTime::try_from(civil).unwrap();
            prop_assert_eq!(format!("{datetime}Z"), ours.to_string());
            prop_assert_eq!(CivilDateTime::from(datetime), civil);
        }

        /// A zoned time of `jiff` shows the same clock in every zone.
        #[test]
        fn a_zoned_time_of_jiff_shows_the_same_clock(ours in timestamp(), zone in any_zone()) {
            let zoned = zone.to_zoned(ours).unwrap();
            prop_assert_eq!(CivilDateTime::from(&zoned), zone.to_civil(ours));
            prop_assert_eq!(Zone::try_from(&zoned), Ok(zone));
            prop_assert_eq!(Timestamp::from(&zoned), ours);
        }

        /// Timestamps and durations convert to those of the standard library and back.
        #[test]
        fn std_types_round_trip(micros in micros()) {
            let ours = Timestamp::from_micros(micros);
            prop_assert_eq!(Timestamp::try_from(SystemTime::try_from(ours).unwrap()), Ok(ours));
            let duration = SignedDuration::micros(micros);
            prop_assert_eq!(SignedDuration::try_from(jiff::SignedDuration::from(duration)), Ok(duration));
            prop_assert_eq!(Duration::try_from(duration).is_ok(), micros >= 0);
            prop_assert_eq!(SignedDuration::try_from(Duration::from_micros(micros.unsigned_abs())).map(SignedDuration::as_micros), Ok(micros.abs()));
        }
    }

    #[test]
    fn a_zone_without_a_name_is_refused() {
        assert!(Zone::try_from(&jiff::tz::TimeZone::fixed(jiff::tz::offset(2))).is_err());
        assert!(jiff::Timestamp::try_from(Timestamp::from_micros(i64::MAX)).is_err());
        assert!(SignedDuration::try_from(Duration::MAX).is_err());
        let text = SignedDuration::try_from(Duration::MAX).unwrap_err().to_string();
        assert_eq!(text, "the duration is outside the range of SignedDuration");
    }
}
