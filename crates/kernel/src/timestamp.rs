//! Points on the UTC line and the time between them.

use std::{
    fmt,
    ops::{Add, Sub},
    str::FromStr,
};

use chrono::DateTime;

use crate::{CivilDate, MissingDay, text::deserialized};

/// A point in time: microseconds since 1970-01-01T00:00:00Z, not counting leap seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(i64);

/// The time between two timestamps, to the microsecond. It may be negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SignedDuration(i64);

impl SignedDuration {
    /// A duration of zero.
    pub const ZERO: Self = Self(0);

    /// A duration of that many microseconds.
    pub const fn micros(micros: i64) -> Self {
        Self(micros)
    }

    /// A duration of that many seconds.
    pub const fn seconds(seconds: i64) -> Self {
        Self(seconds * 1_000_000)
    }

    /// A duration of that many minutes.
    pub const fn minutes(minutes: i64) -> Self {
        Self::seconds(minutes * 60)
    }

    /// A duration of that many hours.
    pub const fn hours(hours: i64) -> Self {
        Self::minutes(hours * 60)
    }

    /// A duration of that many days of 24 hours.
    pub const fn days(days: i64) -> Self {
        Self::hours(days * 24)
    }

    /// The length in microseconds.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// The length in whole seconds, rounded down.
    pub const fn as_seconds(self) -> i64 {
        self.0.div_euclid(1_000_000)
    }
}

/// Why a text is not a timestamp that a request may contain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseTimestampError {
    /// Not RFC 3339, or without an offset.
    #[error("must be an RFC 3339 time with an offset, such as 2026-03-01T09:00:00Z, got {0:?}")]
    Format(String),
    /// RFC 3339 except for a space instead of the `+` of the offset, because an unescaped `+` in a query arrives as a
    /// space.
    #[error(
        "must be an RFC 3339 time with an offset, got {0:?}; in a query, write the + of an offset as %2B, or give the time \
         in UTC with Z"
    )]
    PlusAsSpace(String),
    /// A day that its month does not have.
    #[error("must be an RFC 3339 time with an offset, got {text:?}; {missing}")]
    NoSuchDay {
        /// The text.
        text: String,
        /// The day.
        missing: MissingDay,
    },
    /// Before 1970 or after 2099.
    #[error("must be in the years 1970 to 2099, got {0:?}")]
    Range(String),
}

impl Timestamp {
    /// The earliest timestamp that a request may contain.
    pub const EARLIEST: Self = Self(0);
    /// The first timestamp that is too late for a request: 2100-01-01T00:00:00Z.
    pub const HORIZON: Self = Self(4_102_444_800_000_000);

    /// The timestamp `micros` microseconds after the epoch.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since the epoch.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Whole seconds since the epoch, rounded down.
    pub const fn as_unix_seconds(self) -> i64 {
        self.0.div_euclid(1_000_000)
    }

    /// The date in UTC.
    pub fn utc_date(self) -> CivilDate {
        CivilDate::from_days(self.0.div_euclid(SignedDuration::days(1).0))
    }

    /// Appends the timestamp as responses show it: UTC, `Z`, seconds, and a fraction only if it is not zero. Digits
    /// go straight into the buffer, because timestamps are the bulk of a long response.
    pub fn write_iso(self, out: &mut Vec<u8>) {
        const MICROS_A_DAY: i64 = 86_400_000_000;
        let micros = self.0.rem_euclid(MICROS_A_DAY);
        let (year, month, day) = self.utc_date().year_month_day();
        let seconds = micros / 1_000_000;
        let fraction = micros % 1_000_000;
        let mut text = *b"0000-00-00T00:00:00.000000Z";
        put(&mut text[0..4], i64::from(year));
        put(&mut text[5..7], i64::from(month));
        put(&mut text[8..10], i64::from(day));
        put(&mut text[11..13], seconds / 3_600);
        put(&mut text[14..16], seconds / 60 % 60);
        put(&mut text[17..19], seconds % 60);
        if fraction == 0 {
            text[19] = b'Z';
            out.extend_from_slice(&text[..20]);
        } else {
            put(&mut text[20..26], fraction);
            let digits = text[..26].iter().rposition(|digit| *digit != b'0').map_or(26, |last| last + 1);
            out.extend_from_slice(&text[..digits]);
            out.push(b'Z');
        }
    }
}

fn put(digits: &mut [u8], mut value: i64) {
    for digit in digits.iter_mut().rev() {
        // A remainder modulo ten fits in a byte.
        *digit = b'0' + u8::try_from(value % 10).unwrap_or(0);
        value /= 10;
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::with_capacity(27);
        self.write_iso(&mut text);
        f.write_str(std::str::from_utf8(&text).map_err(|_| fmt::Error)?)
    }
}

impl FromStr for Timestamp {
    type Err = ParseTimestampError;

    /// Reads an RFC 3339 time with an offset. Digits beyond microseconds are cut off. A leap second counts as the
    /// second after it.
    fn from_str(text: &str) -> Result<Self, ParseTimestampError> {
        let instant = read(text)?;
        if instant < Self::EARLIEST || instant >= Self::HORIZON {
            return Err(ParseTimestampError::Range(excerpt(text)));
        }
        Ok(instant)
    }
}

/// Reads an RFC 3339 time of any year.
fn read(text: &str) -> Result<Timestamp, ParseTimestampError> {
    // The longest legitimate form has a nine-digit fraction and an offset.
    if text.len() > 64 || text.as_bytes().get(10).is_some_and(|mark| !matches!(mark, b'T' | b't' | b' ')) {
        return Err(ParseTimestampError::Format(excerpt(text)));
    }
    let parsed = DateTime::parse_from_rfc3339(text).map_err(|_| what_is_wrong(text))?;
    Ok(Timestamp(parsed.timestamp_micros()))
}

fn what_is_wrong(text: &str) -> ParseTimestampError {
    if let Some(missing) = MissingDay::at_start_of(text) {
        return ParseTimestampError::NoSuchDay { text: excerpt(text), missing };
    }
    // The offset is the last six characters, as in +01:00.
    let offset = text.len().checked_sub(6).and_then(|at| text.split_at_checked(at));
    let with_plus = offset.and_then(|(time, offset)| Some(format!("{time}+{}", offset.strip_prefix(' ')?)));
    if with_plus.is_some_and(|text| DateTime::parse_from_rfc3339(&text).is_ok()) {
        return ParseTimestampError::PlusAsSpace(excerpt(text));
    }
    ParseTimestampError::Format(excerpt(text))
}

/// The part of a text that fits in an error message.
fn excerpt(text: &str) -> String {
    text.chars().take(40).collect()
}

impl Add<SignedDuration> for Timestamp {
    type Output = Self;

    fn add(self, elapsed: SignedDuration) -> Self {
        Self(self.0.saturating_add(elapsed.0))
    }
}

impl Sub<SignedDuration> for Timestamp {
    type Output = Self;

    fn sub(self, elapsed: SignedDuration) -> Self {
        Self(self.0.saturating_sub(elapsed.0))
    }
}

impl Sub for Timestamp {
    type Output = SignedDuration;

    fn sub(self, earlier: Self) -> SignedDuration {
        SignedDuration(self.0.saturating_sub(earlier.0))
    }
}

impl serde::Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = Vec::with_capacity(27);
        self.write_iso(&mut text);
        serializer.serialize_str(std::str::from_utf8(&text).map_err(serde::ser::Error::custom)?)
    }
}

/// Reads a timestamp as responses show it. It may be just outside the range that requests may contain: the last day of
/// 2099 ends in 2100, and in zones ahead of UTC the first day of 1970 begins in 1969.
impl<'de> serde::Deserialize<'de> for Timestamp {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialized(deserializer, read)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z")]
    #[case("2028-02-29T23:59:59.5Z", "2028-02-29T23:59:59.5Z")]
    #[case("2028-03-01T01:29:00.123456789+05:30", "2028-02-29T19:59:00.123456Z")]
    #[case("2099-12-31T23:59:59.999999Z", "2099-12-31T23:59:59.999999Z")]
    #[case("2026-06-30T23:59:60Z", "2026-07-01T00:00:00Z")]
    #[case("2026-06-30t23:59:00z", "2026-06-30T23:59:00Z")]
    fn reads_and_writes(#[case] read: &str, #[case] written: &str) {
        assert_eq!(read.parse::<Timestamp>().unwrap().to_string(), written);
    }

    #[rstest]
    #[case::an_instant("2028-02-29T23:59:59.5Z", true)]
    #[case::the_end_of_the_last_day("2100-01-01T12:00:00Z", true)]
    #[case::the_start_of_the_first_day("1969-12-31T10:00:00Z", true)]
    #[case::a_date("2028-02-29", false)]
    fn displayed_timestamps_parse_to_the_same_instant(#[case] text: &str, #[case] is_instant: bool) {
        let json = serde_json::Value::from(text);
        let read = serde_json::from_value::<Timestamp>(json.clone());
        assert_eq!(read.ok().map(|instant| serde_json::to_value(instant).unwrap()), is_instant.then_some(json));
    }

    #[rstest]
    #[case::no_offset("2026-03-01T09:00:00")]
    #[case::a_date("2026-03-01")]
    #[case::no_such_month("2026-13-01T09:00:00Z")]
    #[case::no_such_hour("2026-03-01T25:00:00Z")]
    #[case::a_space_at_its_start(" 01:00")]
    #[case::a_space_amid_nonsense("2026-03-01Tü9:00:00 01:00")]
    #[case::words("tomorrow")]
    #[case::empty("")]
    #[case::no_separator("2026-03-01_09:00:00Z")]
    fn refuses_the_form(#[case] text: &str) {
        assert!(matches!(text.parse::<Timestamp>(), Err(ParseTimestampError::Format(_))));
    }

    #[rstest]
    #[case("2026-02-30T09:00:00Z", "2026-02 has 28 days")]
    #[case("2028-02-30", "2028-02 has 29 days")]
    #[case("2026-04-31T09:00:00 01:00", "2026-04 has 30 days")]
    #[case("2026-01-32T09:00:00", "2026-01 has 31 days")]
    #[case("2026-01-00T09:00:00Z", "2026-01 has 31 days")]
    fn a_day_that_does_not_exist_is_named(#[case] text: &str, #[case] hint: &str) {
        let error = text.parse::<Timestamp>().unwrap_err();
        assert!(matches!(error, ParseTimestampError::NoSuchDay { .. }));
        let message = error.to_string();
        assert!(message.contains("the day does not exist") && message.contains(hint), "{message}");
    }

    #[rstest]
    #[case("2026-03-01T09:00:00 01:00")]
    #[case("2026-03-01T09:00:00.25 05:30")]
    fn an_unescaped_plus_from_a_query_is_recognized(#[case] text: &str) {
        let error = text.parse::<Timestamp>().unwrap_err();
        assert_eq!(error, ParseTimestampError::PlusAsSpace(text.to_owned()));
        assert!(error.to_string().contains("%2B") && error.to_string().contains("Z"), "{error}");
    }

    #[rstest]
    #[case("1969-12-31T23:59:59Z")]
    #[case("2100-01-01T00:00:00Z")]
    #[case("2099-12-31T23:30:00-01:00")]
    fn refuses_the_year(#[case] text: &str) {
        assert!(matches!(text.parse::<Timestamp>(), Err(ParseTimestampError::Range(_))));
    }

    proptest! {
        #[test]
        fn the_written_form_is_read_back(micros in 0..Timestamp::HORIZON.as_micros()) {
            let instant = Timestamp::from_micros(micros);
            prop_assert_eq!(instant.to_string().parse(), Ok(instant));
        }

        #[test]
        fn agrees_with_chrono(micros in 0..Timestamp::HORIZON.as_micros()) {
            let theirs = DateTime::from_timestamp_micros(micros).unwrap();
            let ours = Timestamp::from_micros(micros).to_string();
            prop_assert_eq!(DateTime::parse_from_rfc3339(&ours).unwrap(), theirs);
        }
    }
}
