//! What calendars and wall clocks show, and the zones that tie it to instants.

use std::{fmt, str::FromStr};

use chrono::{DateTime, Datelike, MappedLocalTime, NaiveDate, NaiveDateTime, NaiveTime, Offset, TimeZone, Timelike};
use chrono_tz::{OffsetComponents as _, OffsetName as _, Tz};

use crate::{Elapsed, Instant};

/// A date of the Gregorian calendar, in no particular zone.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CivilDate(i32);

/// A time of day, to the microsecond.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CivilTime(i64);

/// What a wall clock and the calendar beside it show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CivilDateTime {
    /// The date.
    pub date: CivilDate,
    /// The time of day.
    pub time: CivilTime,
}

impl CivilDate {
    /// The date so many days after 1970-01-01.
    pub fn from_days(days: i64) -> Self {
        Self(i32::try_from(days).unwrap_or(if days < 0 { i32::MIN } else { i32::MAX }))
    }

    /// Days since 1970-01-01.
    pub const fn as_days(self) -> i64 {
        self.0 as i64
    }

    /// The date of a year, month (1-12) and day (1-31), where it exists.
    pub fn new(year: i32, month: u32, day: u32) -> Option<Self> {
        NaiveDate::from_ymd_opt(year, month, day).map(Self::from_naive)
    }

    /// Year, month (1-12) and day (1-31).
    pub fn year_month_day(self) -> (i32, u32, u32) {
        // Howard Hinnant's algorithm on 400-year eras beginning on 1 March.
        let shifted = i64::from(self.0) + 719_468;
        let era = shifted.div_euclid(146_097);
        let day_of_era = shifted.rem_euclid(146_097);
        let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
        let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        (i32::try_from(year).unwrap_or(0), u32::try_from(month).unwrap_or(1), u32::try_from(day).unwrap_or(1))
    }

    /// The day of the week, Monday being 0.
    pub fn weekday(self) -> u8 {
        // 1970-01-01 was a Thursday. A remainder by seven fits a byte.
        u8::try_from((i64::from(self.0) + 3).rem_euclid(7)).unwrap_or(0)
    }

    /// The date so many days later (earlier where negative).
    #[must_use]
    pub fn plus_days(self, days: i64) -> Self {
        Self::from_days(i64::from(self.0) + days)
    }

    /// Midnight at the beginning of this date.
    pub const fn midnight(self) -> CivilDateTime {
        CivilDateTime { date: self, time: CivilTime(0) }
    }

    fn from_naive(date: NaiveDate) -> Self {
        Self::from_days(i64::from(date.num_days_from_ce()) - 719_163)
    }

    fn to_naive(self) -> Option<NaiveDate> {
        NaiveDate::from_num_days_from_ce_opt(self.0.checked_add(719_163)?)
    }
}

impl fmt::Display for CivilDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.year_month_day();
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

impl fmt::Debug for CivilDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for CivilDate {
    type Err = chrono::ParseError;

    /// Reads `YYYY-MM-DD` and nothing looser.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fits = |(at, byte): (usize, u8)| if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() };
        let strict = text.len() == 10 && text.bytes().enumerate().all(fits);
        NaiveDate::parse_from_str(if strict { text } else { "" }, "%Y-%m-%d").map(Self::from_naive)
    }
}

impl CivilTime {
    /// 00:00.
    pub const MIDNIGHT: Self = Self(0);

    /// The time of day of an hour (0-23), minute and second, where it exists.
    pub fn new(hour: u32, minute: u32, second: u32) -> Option<Self> {
        NaiveTime::from_hms_opt(hour, minute, second).map(Self::from_naive)
    }

    /// The time of day so many microseconds after midnight, where the day has it.
    pub fn from_micros(micros: i64) -> Option<Self> {
        (0..86_400_000_000).contains(&micros).then_some(Self(micros))
    }

    /// Microseconds since midnight.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    fn from_naive(time: NaiveTime) -> Self {
        Self(i64::from(time.num_seconds_from_midnight()) * 1_000_000 + i64::from(time.nanosecond() / 1_000) % 1_000_000)
    }

    fn to_naive(self) -> Option<NaiveTime> {
        let seconds = u32::try_from(self.0 / 1_000_000).ok()?;
        let nanos = u32::try_from(self.0 % 1_000_000).ok()? * 1_000;
        NaiveTime::from_num_seconds_from_midnight_opt(seconds, nanos)
    }
}

impl fmt::Debug for CivilTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0 / 1_000_000;
        write!(f, "{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
    }
}

impl CivilDateTime {
    /// What a clock shows at `instant` that is `ahead` of UTC.
    pub fn ahead_of_utc(instant: Instant, ahead: Elapsed) -> Self {
        const MICROS_A_DAY: i64 = 86_400_000_000;
        let local = instant + ahead;
        Self { date: local.utc_date(), time: CivilTime(local.as_micros().rem_euclid(MICROS_A_DAY)) }
    }

    fn from_naive(naive: NaiveDateTime) -> Self {
        Self { date: CivilDate::from_naive(naive.date()), time: CivilTime::from_naive(naive.time()) }
    }

    fn to_naive(self) -> Option<NaiveDateTime> {
        Some(self.date.to_naive()?.and_time(self.time.to_naive()?))
    }
}

/// A zone of the compiled-in IANA time-zone database.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Zone(Tz);

/// A name that the time-zone database does not list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("must be an IANA time zone such as Europe/Berlin or UTC, got {0:?}")]
pub struct ZoneError(pub String);

impl Zone {
    /// Coordinated universal time.
    pub const UTC: Self = Self(Tz::UTC);

    /// The IANA name.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// No zone changes its offset twice within this time in the years 1970 to 2099: where the offset is the
    /// same at two instants no further apart, it was the same all the time between.
    pub const BETWEEN_CHANGES: Elapsed = Elapsed::days(6);

    /// How far a wall clock in this zone is ahead of UTC at `instant`; behind where negative.
    pub fn offset_at(self, instant: Instant) -> Elapsed {
        let utc = DateTime::from_timestamp_micros(instant.as_micros()).unwrap_or_default().naive_utc();
        Elapsed::seconds(self.0.offset_from_utc_datetime(&utc).fix().local_minus_utc().into())
    }

    /// Whether the clocks of this zone are set to daylight saving time at `instant`.
    pub fn saves_daylight_at(self, instant: Instant) -> bool {
        let utc = DateTime::from_timestamp_micros(instant.as_micros()).unwrap_or_default().naive_utc();
        !self.0.offset_from_utc_datetime(&utc).dst_offset().is_zero()
    }

    /// What the time of this zone is called at `instant`, such as `CEST`; `None` where it has no name but its offset.
    pub fn abbreviation_at(self, instant: Instant) -> Option<String> {
        let utc = DateTime::from_timestamp_micros(instant.as_micros()).unwrap_or_default().naive_utc();
        let offset = self.0.offset_from_utc_datetime(&utc);
        let name = offset.abbreviation()?;
        name.bytes().all(|byte| byte.is_ascii_alphabetic()).then(|| name.to_owned())
    }

    /// What a wall clock in this zone shows at `instant`.
    pub fn to_civil(self, instant: Instant) -> CivilDateTime {
        let utc = DateTime::from_timestamp_micros(instant.as_micros()).unwrap_or_default().naive_utc();
        CivilDateTime::from_naive(self.0.from_utc_datetime(&utc).naive_local())
    }

    /// The instant at which a wall clock in this zone shows `civil`.
    ///
    /// A time that the clocks repeat is the first of the two. A time that they skip is read with the
    /// offset before the gap, and so moves forward by its length (RFC 5545 section 3.3.5). `None`
    /// only for dates outside the supported calendar.
    pub fn to_instant(self, civil: CivilDateTime) -> Option<Instant> {
        let naive = civil.to_naive()?;
        let utc = match self.0.from_local_datetime(&naive) {
            MappedLocalTime::Single(one) | MappedLocalTime::Ambiguous(one, _) => one.naive_utc(),
            MappedLocalTime::None => {
                // No gap of the database is longer than a day.
                let before = naive.checked_sub_signed(chrono::TimeDelta::days(1))?;
                let earlier = match self.0.from_local_datetime(&before) {
                    MappedLocalTime::Single(one) | MappedLocalTime::Ambiguous(_, one) => one,
                    MappedLocalTime::None => return None,
                };
                earlier.naive_utc().checked_add_signed(naive - before)?
            }
        };
        Some(Instant::from_micros(utc.and_utc().timestamp_micros()))
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Zone {
    type Err = ZoneError;

    fn from_str(text: &str) -> Result<Self, ZoneError> {
        text.parse().map(Self).map_err(|_| ZoneError(text.chars().take(64).collect()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::plain("Europe/Berlin", (2026, 1, 15), (9, 0), "2026-01-15T08:00:00Z")]
    #[case::skipped("Europe/Berlin", (2026, 3, 29), (2, 30), "2026-03-29T01:30:00Z")]
    #[case::repeated_is_the_first("Europe/Berlin", (2026, 10, 25), (2, 30), "2026-10-25T00:30:00Z")]
    #[case::half_hour_zone("Asia/Kolkata", (2026, 7, 1), (9, 0), "2026-07-01T03:30:00Z")]
    #[case::half_hour_gap("Australia/Lord_Howe", (2026, 10, 4), (2, 15), "2026-10-03T15:45:00Z")]
    #[case::midnight_is_skipped("America/Santiago", (2026, 9, 6), (0, 0), "2026-09-06T04:00:00Z")]
    #[case::a_whole_day_is_skipped("Pacific/Apia", (2011, 12, 30), (12, 0), "2011-12-30T22:00:00Z")]
    #[case::last_year("America/New_York", (2099, 7, 1), (12, 0), "2099-07-01T16:00:00Z")]
    fn civil_to_instant(
        #[case] zone: &str,
        #[case] date: (i32, u32, u32),
        #[case] time: (u32, u32),
        #[case] expected: &str,
    ) {
        let zone: Zone = zone.parse().unwrap();
        let civil = CivilDateTime {
            date: CivilDate::new(date.0, date.1, date.2).unwrap(),
            time: CivilTime::new(time.0, time.1, 0).unwrap(),
        };
        assert_eq!(zone.to_instant(civil).unwrap().to_string(), expected);
    }

    #[test]
    fn a_time_of_day_lies_in_the_day() {
        assert_eq!(CivilTime::from_micros(0), Some(CivilTime::MIDNIGHT));
        assert_eq!(CivilTime::from_micros(86_399_000_000), CivilTime::new(23, 59, 59));
        assert_eq!(CivilTime::from_micros(86_400_000_000), None);
        assert_eq!(CivilTime::from_micros(-1), None);
    }

    /// Looks at every zone once a day, and then exactly when it changed.
    #[test]
    fn no_zone_changes_twice_within_the_quiet_time() {
        for zone in chrono_tz::TZ_VARIANTS.map(Zone) {
            let at_day = |day: i64| Instant::EARLIEST + Elapsed::days(day);
            let mut before = Instant::EARLIEST - Zone::BETWEEN_CHANGES;
            let mut offset = zone.offset_at(at_day(0));
            for day in 1..=47_482 {
                let next = zone.offset_at(at_day(day));
                if next != offset {
                    let (mut low, mut high) = (at_day(day - 1).as_unix_seconds(), at_day(day).as_unix_seconds());
                    while high - low > 1 {
                        let middle = low.midpoint(high);
                        let changed = zone.offset_at(Instant::EARLIEST + Elapsed::seconds(middle)) != offset;
                        if changed { high = middle } else { low = middle }
                    }
                    let change = Instant::EARLIEST + Elapsed::seconds(high);
                    assert!(change - before > Zone::BETWEEN_CHANGES, "{zone} at {before} and {change}");
                    (before, offset) = (change, next);
                }
            }
        }
    }

    #[rstest]
    #[case("Mars/Olympus")]
    #[case("")]
    #[case("+02:00")]
    fn unknown_zones(#[case] name: &str) {
        assert_eq!(name.parse::<Zone>(), Err(ZoneError(name.to_owned())));
    }

    #[rstest]
    #[case("2028-02-29", true)]
    #[case("2026-02-29", false)]
    #[case("2026-2-9", false)]
    #[case("+2026-02-9", false)]
    #[case::a_year_before_christ("-2026-3-20", false)]
    fn dates_are_strict(#[case] text: &str, #[case] valid: bool) {
        assert_eq!(text.parse::<CivilDate>().map(|date| date.to_string()).ok(), valid.then(|| text.to_owned()));
    }

    proptest! {
        #[test]
        fn dates_agree_with_chrono(days in 0i64..47_482) {
            let date = CivilDate::from_days(days);
            let theirs = date.to_naive().unwrap();
            prop_assert_eq!(date.year_month_day(), (theirs.year(), theirs.month(), theirs.day()));
            prop_assert_eq!(u32::from(date.weekday()), theirs.weekday().num_days_from_monday());
            prop_assert_eq!(CivilDate::from_naive(theirs), date);
        }

        #[test]
        fn an_instant_shown_and_read_is_itself_or_the_first_of_two(
            micros in 0..Instant::HORIZON.as_micros(),
            zone in prop::sample::select(vec!["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe"]),
        ) {
            let zone: Zone = zone.parse().unwrap();
            let instant = Instant::from_micros(micros);
            let back = zone.to_instant(zone.to_civil(instant)).unwrap();
            prop_assert!(back <= instant);
            prop_assert_eq!(zone.to_civil(back), zone.to_civil(instant));
        }
    }
}
