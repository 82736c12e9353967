//! Dates and times as calendars and wall clocks show them.

use std::{fmt, str::FromStr};

use crate::SignedDuration;

const MICROS_A_DAY: i64 = SignedDuration::days(1).as_micros();

/// A date of the proleptic Gregorian calendar, in no particular zone. It is written as `YYYY-MM-DD`.
///
/// ```
/// use kalends_time::CivilDate;
///
/// let date: CivilDate = "2028-02-29".parse()?;
/// assert_eq!(date.year_month_day(), (2028, 2, 29));
/// assert_eq!(date.plus_days(1).to_string(), "2028-03-01");
/// assert_eq!(date.weekday(), 1, "a Tuesday");
/// assert_eq!(CivilDate::new(2026, 2, 29), None);
/// # Ok::<(), kalends_time::ParseDateError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CivilDate(i32);

/// A day in a text that does not exist in its month, such as 30 February.
///
/// ```
/// use kalends_time::MissingDay;
///
/// let missing = MissingDay::at_start_of("2026-02-30T09:00:00Z").map(|missing| missing.to_string());
/// assert_eq!(missing.as_deref(), Some("the day does not exist: 2026-02 has 28 days"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MissingDay {
    year: i32,
    month: u32,
    days: u32,
}

impl MissingDay {
    /// Returns the missing day if the text begins with a date whose month does not have that day.
    ///
    /// ```
    /// use kalends_time::MissingDay;
    ///
    /// assert!(MissingDay::at_start_of("2026-04-31").is_some());
    /// assert_eq!(MissingDay::at_start_of("2028-02-29"), None);
    /// assert_eq!(MissingDay::at_start_of("tomorrow"), None);
    /// ```
    pub fn at_start_of(text: &str) -> Option<Self> {
        let number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?;
        let mut parts = text.get(..10)?.splitn(3, '-');
        let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
        if (year.len(), month.len()) != (4, 2) {
            return None;
        }
        let (year, month, day) = (i32::try_from(number(year)?).ok()?, number(month)?, number(day)?);
        let days = (28..=31).rev().find(|day| CivilDate::new(year, month, *day).is_some())?;
        (day == 0 || day > days).then_some(Self { year, month, days })
    }
}

impl fmt::Display for MissingDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { year, month, days } = self;
        write!(f, "the day does not exist: {year:04}-{month:02} has {days} days")
    }
}

/// A text that is not a date of the form `YYYY-MM-DD`.
///
/// ```
/// use kalends_time::CivilDate;
///
/// let error = "1 March 2026".parse::<CivilDate>().map_err(|error| error.to_string());
/// assert_eq!(error, Err(r#"must be a date such as 2026-03-01, got "1 March 2026""#.to_owned()));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("must be a date such as 2026-03-01, got {0:?}")]
pub struct ParseDateError(String);

/// A time of day, to the microsecond.
///
/// ```
/// use kalends_time::CivilTime;
///
/// let half_past_nine = CivilTime::new(9, 30, 0).ok_or("no such time")?;
/// assert_eq!(half_past_nine.hour_minute_second(), (9, 30, 0));
/// assert_eq!(half_past_nine.to_string(), "09:30:00");
/// assert!(CivilTime::MIDNIGHT < half_past_nine);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CivilTime(i64);

/// A date and a time of day, as a calendar and a wall clock show them.
///
/// `Debug` and `Display` print it as RFC 3339 does, without an offset.
///
/// ```
/// use kalends_time::{CivilDate, CivilDateTime, CivilTime};
///
/// let date: CivilDate = "2026-03-01".parse()?;
/// let civil = CivilDateTime { date, time: CivilTime::MIDNIGHT };
/// assert_eq!(civil.to_string(), "2026-03-01T00:00:00");
/// # Ok::<(), kalends_time::ParseDateError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CivilDateTime {
    /// The date.
    pub date: CivilDate,
    /// The time of day.
    pub time: CivilTime,
}

impl CivilDate {
    /// 1970-01-01.
    pub const EPOCH: Self = Self(0);

    /// The date `days` days after 1970-01-01. It saturates after about 5.8 million years.
    ///
    /// ```
    /// use kalends_time::CivilDate;
    ///
    /// assert_eq!(CivilDate::from_days(0), CivilDate::EPOCH);
    /// assert_eq!(CivilDate::from_days(-1).to_string(), "1969-12-31");
    /// ```
    pub fn from_days(days: i64) -> Self {
        Self(i32::try_from(days).unwrap_or(if days < 0 { i32::MIN } else { i32::MAX }))
    }

    /// Days since 1970-01-01.
    pub const fn as_days(self) -> i64 {
        self.0 as i64
    }

    /// The date of a year, month (1-12) and day (1-31); `None` if it does not exist, or is more than about 262,000 years
    /// from 1970.
    ///
    /// ```
    /// use kalends_time::CivilDate;
    ///
    /// assert_eq!(CivilDate::new(2028, 2, 29).map(|date| date.to_string()).as_deref(), Some("2028-02-29"));
    /// assert_eq!(CivilDate::new(2100, 2, 29), None);
    /// ```
    pub fn new(year: i32, month: u32, day: u32) -> Option<Self> {
        const YEAR_MAX: i32 = 262_143;
        if !(-YEAR_MAX..=YEAR_MAX).contains(&year) || !(1..=12).contains(&month) {
            return None;
        }
        // Howard Hinnant's algorithm on 400-year eras beginning on 1 March.
        let shifted_year = i64::from(year) - i64::from(month <= 2);
        let (era, year_of_era) = (shifted_year.div_euclid(400), shifted_year.rem_euclid(400));
        let shifted_month = i64::from(month + 9) % 12;
        let day_of_year = (153 * shifted_month + 2) / 5 + i64::from(day) - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        let date = Self::from_days(era * 146_097 + day_of_era - 719_468);
        // A day that the month does not have is a date of another month.
        (date.year_month_day() == (year, month, day)).then_some(date)
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

    /// The day of the week; 0 is Monday. [`CivilDate`] has an example.
    pub fn weekday(self) -> u8 {
        // 1970-01-01 was a Thursday. A remainder modulo seven fits in a byte.
        u8::try_from((i64::from(self.0) + 3).rem_euclid(7)).unwrap_or(0)
    }

    /// The date `days` days later, or earlier if `days` is negative.
    ///
    /// ```
    /// use kalends_time::CivilDate;
    ///
    /// let last_of_year: CivilDate = "2026-12-31".parse()?;
    /// assert_eq!(last_of_year.plus_days(1).to_string(), "2027-01-01");
    /// assert_eq!(last_of_year.plus_days(-365).to_string(), "2025-12-31");
    /// # Ok::<(), kalends_time::ParseDateError>(())
    /// ```
    #[must_use]
    pub fn plus_days(self, days: i64) -> Self {
        Self::from_days(i64::from(self.0) + days)
    }

    /// Midnight at the beginning of this date.
    ///
    /// ```
    /// use kalends_time::{CivilDate, CivilTime};
    ///
    /// let date: CivilDate = "2026-03-01".parse()?;
    /// assert_eq!(date.midnight(), date.at(CivilTime::MIDNIGHT));
    /// # Ok::<(), kalends_time::ParseDateError>(())
    /// ```
    pub const fn midnight(self) -> CivilDateTime {
        CivilDateTime { date: self, time: CivilTime(0) }
    }

    /// This date at a time of day.
    ///
    /// ```
    /// use kalends_time::{CivilDate, CivilTime};
    ///
    /// let noon = CivilTime::new(12, 0, 0).ok_or("no such time")?;
    /// assert_eq!("2026-03-01".parse::<CivilDate>()?.at(noon).to_string(), "2026-03-01T12:00:00");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn at(self, time: CivilTime) -> CivilDateTime {
        CivilDateTime { date: self, time }
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
    type Err = ParseDateError;

    /// Parses `YYYY-MM-DD`. It accepts no other form.
    fn from_str(text: &str) -> Result<Self, ParseDateError> {
        let parsed = || {
            let fits = |(at, byte): (usize, u8)| if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() };
            if text.len() != 10 || !text.bytes().enumerate().all(fits) {
                return None;
            }
            Self::new(text[..4].parse().ok()?, text[5..7].parse().ok()?, text[8..].parse().ok()?)
        };
        parsed().ok_or_else(|| ParseDateError(text.chars().take(40).collect()))
    }
}

impl CivilTime {
    /// 00:00.
    pub const MIDNIGHT: Self = Self(0);

    /// The time of day from an hour (0-23), a minute and a second; `None` if it does not exist.
    ///
    /// ```
    /// use kalends_time::CivilTime;
    ///
    /// assert!(CivilTime::new(23, 59, 59).is_some());
    /// assert_eq!(CivilTime::new(24, 0, 0), None);
    /// assert_eq!(CivilTime::new(23, 59, 60), None, "a leap second");
    /// ```
    pub fn new(hour: u32, minute: u32, second: u32) -> Option<Self> {
        let exists = hour < 24 && minute < 60 && second < 60;
        exists.then(|| Self(i64::from((hour * 60 + minute) * 60 + second) * 1_000_000))
    }

    /// The time of day `micros` microseconds after midnight; `None` if that is outside the day.
    ///
    /// ```
    /// use kalends_time::CivilTime;
    ///
    /// let time = CivilTime::from_micros(1_500_000).map(|time| time.to_string());
    /// assert_eq!(time.as_deref(), Some("00:00:01.5"));
    /// assert_eq!(CivilTime::from_micros(-1), None);
    /// ```
    pub fn from_micros(micros: i64) -> Option<Self> {
        (0..86_400_000_000).contains(&micros).then_some(Self(micros))
    }

    /// Microseconds since midnight.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Hour (0-23), minute and second. A fraction of a second is cut off.
    pub fn hour_minute_second(self) -> (u32, u32, u32) {
        // A day has 86,400 seconds.
        let seconds = u32::try_from(self.0 / 1_000_000).unwrap_or(0);
        (seconds / 3_600, seconds / 60 % 60, seconds % 60)
    }
}

impl fmt::Display for CivilTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (hour, minute, second) = self.hour_minute_second();
        write!(f, "{hour:02}:{minute:02}:{second:02}")?;
        match self.0 % 1_000_000 {
            0 => Ok(()),
            fraction => write!(f, ".{}", format!("{fraction:06}").trim_end_matches('0')),
        }
    }
}

impl fmt::Debug for CivilTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for CivilDateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}T{}", self.date, self.time)
    }
}

impl fmt::Debug for CivilDateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl CivilDateTime {
    /// What a clock shows that many microseconds after it showed 1970-01-01T00:00.
    ///
    /// ```
    /// use kalends_time::CivilDateTime;
    ///
    /// assert_eq!(CivilDateTime::from_micros(-1).to_string(), "1969-12-31T23:59:59.999999");
    /// ```
    pub fn from_micros(micros: i64) -> Self {
        let date = CivilDate::from_days(micros.div_euclid(MICROS_A_DAY));
        Self { date, time: CivilTime(micros.rem_euclid(MICROS_A_DAY)) }
    }

    /// Microseconds since 1970-01-01T00:00 on the same clock; `None` if they do not fit in 64 bits.
    ///
    /// ```
    /// use kalends_time::{CivilDate, CivilDateTime};
    ///
    /// let a_day_later = CivilDate::EPOCH.plus_days(1).midnight();
    /// assert_eq!(a_day_later.as_micros(), Some(86_400_000_000));
    /// assert_eq!(CivilDate::from_days(i64::MAX).midnight().as_micros(), None);
    /// ```
    pub fn as_micros(self) -> Option<i64> {
        self.date.as_days().checked_mul(MICROS_A_DAY)?.checked_add(self.time.0)
    }
}

#[cfg(test)]
mod tests {
    use chrono::{Datelike as _, NaiveDate};
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case((2028, 2, 29), true)]
    #[case((2100, 2, 29), false)]
    #[case((2026, 4, 31), false)]
    #[case((2026, 13, 1), false)]
    #[case((2026, 0, 1), false)]
    #[case((2026, 1, 0), false)]
    #[case((2026, 1, u32::MAX), false)]
    #[case((0, 2, 29), true)]
    #[case((-262_143, 1, 1), true)]
    #[case((262_144, 1, 1), false)]
    #[case((i32::MIN, 1, 1), false)]
    fn dates_exist_or_not(#[case] (year, month, day): (i32, u32, u32), #[case] exists: bool) {
        let date = CivilDate::new(year, month, day);
        assert_eq!(date.map(CivilDate::year_month_day), exists.then_some((year, month, day)));
    }

    #[test]
    fn civil_times_print_as_rfc_3339() {
        let time = CivilTime::from_micros(3_723_050_000).unwrap();
        assert_eq!(format!("{:?}", CivilDate::EPOCH.at(time)), "1970-01-01T01:02:03.05");
        assert_eq!(CivilTime::new(23, 59, 60), None);
        assert_eq!(CivilTime::new(23, 59, 59).unwrap().hour_minute_second(), (23, 59, 59));
    }

    #[test]
    fn a_time_of_day_is_within_the_day() {
        assert_eq!(CivilTime::from_micros(0), Some(CivilTime::MIDNIGHT));
        assert_eq!(CivilTime::from_micros(86_399_000_000), CivilTime::new(23, 59, 59));
        assert_eq!(CivilTime::from_micros(86_400_000_000), None);
        assert_eq!(CivilTime::from_micros(-1), None);
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
        /// Dates, their numbers and their weekdays agree with `chrono`.
        #[test]
        fn dates_agree_with_chrono(days in -1_000_000i64..3_000_000) {
            let date = CivilDate::from_days(days);
            let theirs = NaiveDate::from_num_days_from_ce_opt(i32::try_from(days + 719_163).unwrap()).unwrap();
            prop_assert_eq!(date.year_month_day(), (theirs.year(), theirs.month(), theirs.day()));
            prop_assert_eq!(u32::from(date.weekday()), theirs.weekday().num_days_from_monday());
            prop_assert_eq!(CivilDate::new(theirs.year(), theirs.month(), theirs.day()), Some(date));
        }
    }
}
