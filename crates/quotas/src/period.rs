//! The UTC month. Monthly quotas are counted in it.

use std::fmt;

use kalends_time::{CivilDate, SignedDuration, Timestamp};

/// A month on the UTC line.
///
/// ```
/// use kalends_quotas::Period;
///
/// let period = Period::of("2027-03-15T12:00:00Z".parse()?);
/// assert_eq!((period.to_string().as_str(), period.number()), ("2027-03", 202_703));
/// assert_eq!(period.start(), "2027-03-01T00:00:00Z".parse()?);
/// assert_eq!(period.end(), "2027-04-01T00:00:00Z".parse()?);
/// assert_eq!(Period::from_number(202_703), Some(period));
/// # Ok::<(), kalends_time::ParseTimestampError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Period {
    year: i32,
    month: u32,
}

impl Period {
    /// The month that contains `instant`. [`Period`] has an example.
    pub fn of(instant: Timestamp) -> Self {
        let (year, month, _) = instant.utc_date().year_month_day();
        Self { year, month }
    }

    /// The month as stores keep it: `year * 100 + month`.
    pub fn number(self) -> i64 {
        i64::from(self.year) * 100 + i64::from(self.month)
    }

    /// The month with that [`Self::number`]; `None` for a number that is not a month of the years 1970 to 2100.
    /// [`Period`] has an example.
    pub fn from_number(number: i64) -> Option<Self> {
        let year = i32::try_from(number.div_euclid(100)).ok().filter(|year| (1970..=2100).contains(year))?;
        let month = u32::try_from(number.rem_euclid(100)).ok().filter(|month| (1..=12).contains(month))?;
        Some(Self { year, month })
    }

    /// The first moment of the month. In the years around 290,000 BC and AD in which timestamps begin and end, it is cut
    /// off at the first timestamp.
    pub fn start(self) -> Timestamp {
        midnight(self.year, self.month)
    }

    /// The first moment of the next month, cut off at the last timestamp.
    pub fn end(self) -> Timestamp {
        if self.month == 12 { midnight(self.year.saturating_add(1), 1) } else { midnight(self.year, self.month + 1) }
    }

    /// Whole seconds from `now` to the start of the next month, rounded up and at least one, for `Retry-After`.
    ///
    /// ```
    /// use kalends_quotas::Period;
    ///
    /// let now = "2027-03-31T23:59:30Z".parse()?;
    /// assert_eq!(Period::of(now).seconds_left(now), 30);
    /// # Ok::<(), kalends_time::ParseTimestampError>(())
    /// ```
    pub fn seconds_left(self, now: Timestamp) -> i64 {
        (self.end() + SignedDuration::micros(999_999) - now).as_seconds().max(1)
    }
}

/// The first moment of a month, without the limits of [`CivilDate::new`] on the year.
fn midnight(year: i32, month: u32) -> Timestamp {
    // Every 400 years have the same number of days, so the date is looked up in the first 400 years of the era.
    const YEARS: i32 = 400;
    const DAYS: i64 = 146_097;
    let of_era = CivilDate::new(year.rem_euclid(YEARS), month, 1).unwrap_or(CivilDate::EPOCH);
    let days = of_era.as_days().saturating_add(i64::from(year.div_euclid(YEARS)).saturating_mul(DAYS));
    Timestamp::from_micros(days.saturating_mul(SignedDuration::days(1).as_micros()))
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.year, self.month)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("2026-12-31T23:59:59.999999Z", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z", 1)]
    #[case("2028-02-01T00:00:00Z", "2028-02-01T00:00:00Z", "2028-03-01T00:00:00Z", 29 * 86_400)]
    #[case("2099-12-15T00:00:00Z", "2099-12-01T00:00:00Z", "2100-01-01T00:00:00Z", 17 * 86_400)]
    fn a_period_is_a_utc_month(#[case] at: &str, #[case] start: &str, #[case] end: &str, #[case] left: i64) {
        let at: Timestamp = at.parse().unwrap();
        let period = Period::of(at);
        assert_eq!((period.start().to_string().as_str(), period.end().to_string().as_str()), (start, end));
        assert_eq!(period.seconds_left(at), left);
    }

    #[rstest]
    #[case(202_600)]
    #[case(202_613)]
    #[case(196_912)]
    #[case(-1)]
    #[case(i64::MAX)]
    fn an_invalid_number_is_refused(#[case] number: i64) {
        assert_eq!(Period::from_number(number), None);
    }

    proptest! {
        /// Every timestamp that the type can hold is in a month.
        #[test]
        fn every_timestamp_has_a_month(
            micros in prop_oneof![Just(i64::MIN), Just(i64::MAX), any::<i64>()], now in any::<i64>(), number in any::<i64>(),
        ) {
            let at = Timestamp::from_micros(micros);
            let period = Period::of(at);
            prop_assert!(period.start() <= at && at <= period.end());
            prop_assert!(at < period.end() || micros == i64::MAX);
            prop_assert!(period.seconds_left(Timestamp::from_micros(now)) >= 1);
            prop_assert!(Period::from_number(number).is_none_or(|period| period.number() == number));
            let _ = (period.number(), period.to_string());
        }

        /// Each timestamp is in one month, and the next month begins where that one ends.
        #[test]
        fn months_partition_the_line(micros in 0..Timestamp::HORIZON.as_micros()) {
            let at = Timestamp::from_micros(micros);
            let period = Period::of(at);
            prop_assert!(period.start() <= at && at < period.end());
            prop_assert!(Period::of(period.end()) > period);
            prop_assert_eq!(Period::of(period.end()).start(), period.end());
            prop_assert_eq!(Period::from_number(period.number()), Some(period));
        }
    }
}
