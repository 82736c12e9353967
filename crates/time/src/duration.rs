//! The time between two timestamps.

use std::{fmt, ops::Neg};

/// The time between two timestamps, to the microsecond. It may be negative.
///
/// `Debug` prints it as ISO 8601 does, such as `PT1H30M`.
///
/// ```
/// use kalends_time::SignedDuration;
///
/// assert_eq!(SignedDuration::minutes(90).as_seconds(), 5_400);
/// assert_eq!(format!("{:?}", SignedDuration::minutes(-90)), "-PT1H30M");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct SignedDuration(i64);

impl SignedDuration {
    /// A duration of zero.
    pub const ZERO: Self = Self(0);

    /// A duration of that many microseconds.
    ///
    /// ```
    /// use kalends_time::SignedDuration;
    ///
    /// assert_eq!(SignedDuration::micros(2_500_000).as_seconds(), 2);
    /// ```
    pub const fn micros(micros: i64) -> Self {
        Self(micros)
    }

    /// A duration of that many seconds. The limits of the type bound it: about 292,000 years.
    ///
    /// ```
    /// use kalends_time::SignedDuration;
    ///
    /// assert_eq!(SignedDuration::seconds(2).as_micros(), 2_000_000);
    /// assert_eq!(SignedDuration::seconds(i64::MAX).as_micros(), i64::MAX);
    /// ```
    pub const fn seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1_000_000))
    }

    /// A duration of that many minutes. [`SignedDuration`] has an example.
    pub const fn minutes(minutes: i64) -> Self {
        Self::seconds(minutes.saturating_mul(60))
    }

    /// A duration of that many hours.
    ///
    /// ```
    /// use kalends_time::SignedDuration;
    ///
    /// assert_eq!(SignedDuration::hours(2), SignedDuration::minutes(120));
    /// ```
    pub const fn hours(hours: i64) -> Self {
        Self::minutes(hours.saturating_mul(60))
    }

    /// A duration of that many days of 24 hours.
    ///
    /// ```
    /// use kalends_time::{SignedDuration, Zone};
    ///
    /// // A day on which the clocks go forward is an hour shorter than this.
    /// let zone: Zone = "Europe/Berlin".parse()?;
    /// let before = "2026-03-28T12:00:00Z".parse()?;
    /// assert_eq!(zone.to_civil(before).to_string(), "2026-03-28T13:00:00");
    /// assert_eq!(zone.to_civil(before + SignedDuration::days(1)).to_string(), "2026-03-29T14:00:00");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn days(days: i64) -> Self {
        Self::hours(days.saturating_mul(24))
    }

    /// The length in microseconds.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// The length in whole seconds, rounded down.
    ///
    /// ```
    /// use kalends_time::SignedDuration;
    ///
    /// assert_eq!(SignedDuration::micros(-1).as_seconds(), -1);
    /// ```
    pub const fn as_seconds(self) -> i64 {
        self.0.div_euclid(1_000_000)
    }
}

impl Neg for SignedDuration {
    type Output = Self;

    fn neg(self) -> Self {
        Self(self.0.saturating_neg())
    }
}

impl fmt::Debug for SignedDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (micros, sign) = (self.0.unsigned_abs(), if self.0 < 0 { "-" } else { "" });
        let (seconds, fraction) = (micros / 1_000_000, micros % 1_000_000);
        let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
        write!(f, "{sign}PT")?;
        if hours > 0 {
            write!(f, "{hours}H")?;
        }
        if minutes > 0 {
            write!(f, "{minutes}M")?;
        }
        match fraction {
            0 if seconds == 0 && micros > 0 => Ok(()),
            0 => write!(f, "{seconds}S"),
            _ => write!(f, "{seconds}.{}S", format!("{fraction:06}").trim_end_matches('0')),
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::zero(SignedDuration::ZERO, "PT0S")]
    #[case::hours(SignedDuration::hours(30), "PT30H")]
    #[case::all_parts(SignedDuration::seconds(3_661), "PT1H1M1S")]
    #[case::a_fraction(SignedDuration::micros(1_250_000), "PT1.25S")]
    #[case::less_than_a_second(SignedDuration::micros(-7), "-PT0.000007S")]
    #[case::the_shortest(SignedDuration::micros(i64::MIN), "-PT2562047788H54.775808S")]
    fn debug_prints_iso_8601(#[case] duration: SignedDuration, #[case] text: &str) {
        assert_eq!(format!("{duration:?}"), text);
    }

    #[test]
    fn lengths_that_do_not_fit_saturate() {
        assert_eq!(SignedDuration::days(i64::MAX), SignedDuration::micros(i64::MAX));
        assert_eq!(SignedDuration::days(i64::MIN), SignedDuration::micros(i64::MIN));
        assert_eq!(-SignedDuration::micros(i64::MIN), SignedDuration::micros(i64::MAX));
    }
}
