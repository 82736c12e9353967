//! Points in time.

use std::{
    fmt,
    ops::{Add, Sub},
    str::FromStr,
};

use crate::{
    CivilDate, CivilDateTime, ParseTimestampError, SignedDuration,
    rfc3339::{self, WRITTEN_MAX},
};

/// A point in time: microseconds since 1970-01-01T00:00:00Z, not counting leap seconds.
///
/// It is written and read as RFC 3339: in UTC, with `Z`, and with a fraction only if it has one. `Debug` prints the same
/// text. Sums that do not fit in the type saturate, which takes 292,000 years.
///
/// ```
/// use kalends_time::{SignedDuration, Timestamp};
///
/// let start: Timestamp = "2026-03-01T10:00:00+01:00".parse()?;
/// assert_eq!(start.to_string(), "2026-03-01T09:00:00Z");
/// assert_eq!((start + SignedDuration::minutes(90)) - start, SignedDuration::seconds(5_400));
/// # Ok::<(), kalends_time::ParseTimestampError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(i64);

impl Timestamp {
    /// 1970-01-01T00:00:00Z.
    pub const EPOCH: Self = Self(0);
    /// 2100-01-01T00:00:00Z, where the compiled-in zone tables end. Later times keep each zone's last offset.
    pub const HORIZON: Self = Self(4_102_444_800_000_000);

    /// The timestamp `micros` microseconds after the epoch.
    ///
    /// ```
    /// use kalends_time::Timestamp;
    ///
    /// assert_eq!(Timestamp::from_micros(1_500_000).to_string(), "1970-01-01T00:00:01.5Z");
    /// assert_eq!(Timestamp::from_micros(0), Timestamp::EPOCH);
    /// ```
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since the epoch.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Whole seconds since the epoch, rounded down.
    ///
    /// ```
    /// use kalends_time::Timestamp;
    ///
    /// assert_eq!(Timestamp::HORIZON.as_unix_seconds(), 4_102_444_800);
    /// assert_eq!(Timestamp::from_micros(-1).as_unix_seconds(), -1);
    /// ```
    pub const fn as_unix_seconds(self) -> i64 {
        self.0.div_euclid(1_000_000)
    }

    /// The date in UTC.
    ///
    /// ```
    /// use kalends_time::Timestamp;
    ///
    /// // It is already the next day in Tokyo.
    /// let at: Timestamp = "2026-03-01T23:30:00Z".parse()?;
    /// assert_eq!(at.utc_date().to_string(), "2026-03-01");
    /// # Ok::<(), kalends_time::ParseTimestampError>(())
    /// ```
    pub fn utc_date(self) -> CivilDate {
        CivilDate::from_days(self.0.div_euclid(SignedDuration::days(1).as_micros()))
    }

    /// Appends the timestamp as RFC 3339 text: UTC, `Z`, seconds, and a fraction only if it is not zero. Years outside 0
    /// to 9999 have a sign and six digits (ISO 8601).
    ///
    /// ```
    /// use kalends_time::{SignedDuration, Timestamp};
    ///
    /// let mut json = b"[\"".to_vec();
    /// (Timestamp::EPOCH + SignedDuration::micros(250_000)).write_iso(&mut json);
    /// json.extend_from_slice(b"\"]");
    /// assert_eq!(json, br#"["1970-01-01T00:00:00.25Z"]"#);
    /// ```
    pub fn write_iso(self, out: &mut Vec<u8>) {
        rfc3339::write(self.0, out);
    }
}

impl CivilDateTime {
    /// What a clock that is `ahead` of UTC shows at `timestamp`.
    ///
    /// ```
    /// use kalends_time::{CivilDateTime, SignedDuration};
    ///
    /// let at = "2026-03-01T23:30:00Z".parse()?;
    /// let shown = CivilDateTime::ahead_of_utc(at, SignedDuration::hours(9));
    /// assert_eq!(shown.to_string(), "2026-03-02T08:30:00");
    /// # Ok::<(), kalends_time::ParseTimestampError>(())
    /// ```
    pub fn ahead_of_utc(timestamp: Timestamp, ahead: SignedDuration) -> Self {
        Self::from_micros((timestamp + ahead).as_micros())
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::with_capacity(WRITTEN_MAX);
        self.write_iso(&mut text);
        f.write_str(std::str::from_utf8(&text).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Timestamp {
    type Err = ParseTimestampError;

    /// Reads an RFC 3339 time with an offset, in the years 0 to 9999. Digits beyond microseconds are cut off. A leap
    /// second counts as the second after it.
    fn from_str(text: &str) -> Result<Self, ParseTimestampError> {
        rfc3339::read(text).map(Self)
    }
}

impl Add<SignedDuration> for Timestamp {
    type Output = Self;

    fn add(self, duration: SignedDuration) -> Self {
        Self(self.0.saturating_add(duration.as_micros()))
    }
}

impl Sub<SignedDuration> for Timestamp {
    type Output = Self;

    fn sub(self, duration: SignedDuration) -> Self {
        Self(self.0.saturating_sub(duration.as_micros()))
    }
}

impl Sub for Timestamp {
    type Output = SignedDuration;

    fn sub(self, earlier: Self) -> SignedDuration {
        SignedDuration::micros(self.0.saturating_sub(earlier.0))
    }
}
