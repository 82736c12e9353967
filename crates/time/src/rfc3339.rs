//! Reads and writes timestamps as RFC 3339 text.

use crate::{CivilDate, CivilDateTime, CivilTime, MissingDay, SignedDuration};

/// The longest text that is read: a date, a time, a long fraction and an offset.
const LENGTH_MAX: usize = 64;

/// Why a text is not an RFC 3339 time with an offset.
///
/// ```
/// use kalends_time::{ParseTimestampError, Timestamp};
///
/// let read = |text: &str| text.parse::<Timestamp>();
/// assert!(matches!(read("2026-03-01T09:00:00"), Err(ParseTimestampError::Format(_))));
/// assert!(matches!(read("2026-03-01T09:00:00 01:00"), Err(ParseTimestampError::PlusAsSpace(_))));
/// assert!(matches!(read("2026-02-30T09:00:00Z"), Err(ParseTimestampError::NoSuchDay { .. })));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
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
}

/// Reads an RFC 3339 time with an offset (section 5.6), as microseconds since the epoch. Digits beyond microseconds are
/// cut off. A leap second counts as the second after it.
pub(crate) fn read(text: &str) -> Result<i64, ParseTimestampError> {
    parsed(text.as_bytes()).ok_or_else(|| what_is_wrong(text))
}

fn parsed(text: &[u8]) -> Option<i64> {
    if text.len() > LENGTH_MAX {
        return None;
    }
    let (date, rest) = text.split_at_checked(10)?;
    let (time, rest) = rest.split_at_checked(9)?;
    let [year, month, day] = numbers(date, [(0, 4), (5, 2), (8, 2)])?;
    let [hour, minute, second] = numbers(time, [(1, 2), (4, 2), (7, 2)])?;
    let marks = (date[4], date[7], time[0], time[3], time[6]);
    if !matches!(marks, (b'-', b'-', b'T' | b't' | b' ', b':', b':')) {
        return None;
    }
    let (fraction, offset) = match rest.split_first()? {
        (b'.', rest) => {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let (digits, offset) = rest.split_at_checked(digits).filter(|(digits, _)| !digits.is_empty())?;
            let micros = digits.iter().chain([b'0'; 6].iter()).take(6);
            (micros.fold(0, |micros, digit| micros * 10 + i64::from(digit - b'0')), offset)
        }
        _ => (0, rest),
    };
    let ahead = match offset {
        b"Z" | b"z" => 0,
        [sign @ (b'+' | b'-'), hours_minutes @ ..] if hours_minutes.len() == 5 && hours_minutes[2] == b':' => {
            let [hours, minutes] = numbers(hours_minutes, [(0, 2), (3, 2)])?;
            if hours > 23 || minutes > 59 {
                return None;
            }
            let seconds = i64::from(hours * 60 + minutes) * 60;
            if *sign == b'-' { -seconds } else { seconds }
        }
        _ => return None,
    };
    // A leap second is one second after the 59th.
    let leap = i64::from(second == 60);
    let date = CivilDate::new(i32::try_from(year).ok()?, month, day)?;
    let time = CivilTime::new(hour, minute, if leap == 1 { 59 } else { second })?;
    Some(date.at(time).as_micros()? + fraction + SignedDuration::seconds(leap - ahead).as_micros())
}

/// Reads the numbers at these places, each as a first digit and a number of digits.
fn numbers<const COUNT: usize>(text: &[u8], places: [(usize, usize); COUNT]) -> Option<[u32; COUNT]> {
    let mut numbers = [0; COUNT];
    for (number, (from, length)) in numbers.iter_mut().zip(places) {
        for digit in text.get(from..from + length)? {
            *number = *number * 10 + char::from(*digit).to_digit(10)?;
        }
    }
    Some(numbers)
}

fn what_is_wrong(text: &str) -> ParseTimestampError {
    let excerpt: String = text.chars().take(40).collect();
    if let Some(missing) = MissingDay::at_start_of(text) {
        return ParseTimestampError::NoSuchDay { text: excerpt, missing };
    }
    // The offset is the last six characters, as in +01:00.
    let offset = text.len().checked_sub(6).and_then(|at| text.split_at_checked(at));
    let with_plus = offset.and_then(|(time, offset)| Some(format!("{time}+{}", offset.strip_prefix(' ')?)));
    if with_plus.is_some_and(|text| parsed(text.as_bytes()).is_some()) {
        return ParseTimestampError::PlusAsSpace(excerpt);
    }
    ParseTimestampError::Format(excerpt)
}

/// The longest text that is written: a year with a sign and six digits, and a fraction.
pub(crate) const WRITTEN_MAX: usize = 30;

/// Appends a time in UTC, given as microseconds since the epoch: `Z`, seconds, and a fraction only if it is not zero.
/// Digits go straight into the buffer, because timestamps are the bulk of a long response.
pub(crate) fn write(micros: i64, out: &mut Vec<u8>) {
    let CivilDateTime { date, time } = CivilDateTime::from_micros(micros);
    let (year, month, day) = date.year_month_day();
    let (hour, minute, second) = time.hour_minute_second();
    let fraction = time.as_micros() % 1_000_000;
    let mut text = *b"0000-00-00T00:00:00.000000Z";
    if (0..=9_999).contains(&year) {
        put(&mut text[0..4], i64::from(year));
    } else {
        // RFC 3339 has four digits. ISO 8601 writes other years with a sign and more digits.
        out.extend_from_slice(if year < 0 { b"-" } else { b"+" });
        let century = i64::from(year.unsigned_abs() / 100);
        let mut digits = [0; 4];
        put(&mut digits, century);
        out.extend_from_slice(&digits[..2]);
        text[0..2].copy_from_slice(&digits[2..]);
        put(&mut text[2..4], i64::from(year.unsigned_abs() % 100));
    }
    put(&mut text[5..7], i64::from(month));
    put(&mut text[8..10], i64::from(day));
    put(&mut text[11..13], hour.into());
    put(&mut text[14..16], minute.into());
    put(&mut text[17..19], second.into());
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

fn put(digits: &mut [u8], mut value: i64) {
    for digit in digits.iter_mut().rev() {
        // A remainder modulo ten fits in a byte.
        *digit = b'0' + u8::try_from(value % 10).unwrap_or(0);
        value /= 10;
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::Timestamp;
    use crate::testing::written_timestamp;

    #[rstest]
    #[case("1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z")]
    #[case("2028-02-29T23:59:59.5Z", "2028-02-29T23:59:59.5Z")]
    #[case("2028-03-01T01:29:00.123456789+05:30", "2028-02-29T19:59:00.123456Z")]
    #[case("2099-12-31T23:59:59.999999Z", "2099-12-31T23:59:59.999999Z")]
    #[case::a_leap_second("2026-06-30T23:59:60Z", "2026-07-01T00:00:00Z")]
    #[case::lower_case("2026-06-30t23:59:00z", "2026-06-30T23:59:00Z")]
    #[case::a_space("2026-06-30 23:59:00Z", "2026-06-30T23:59:00Z")]
    #[case::an_unknown_offset("2026-06-30T23:59:00-00:00", "2026-06-30T23:59:00Z")]
    #[case::the_first_year("0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z")]
    #[case::the_last_year("9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z")]
    fn reads_and_writes(#[case] read: &str, #[case] written: &str) {
        assert_eq!(read.parse::<Timestamp>().unwrap().to_string(), written);
    }

    #[rstest]
    #[case(i64::MAX, "+294247-01-10T04:00:54.775807Z")]
    #[case(i64::MIN, "-290308-12-21T19:59:05.224192Z")]
    #[case(253_402_300_800_000_000, "+010000-01-01T00:00:00Z")]
    #[case(-62_167_219_200_000_001, "-000001-12-31T23:59:59.999999Z")]
    fn years_outside_of_rfc_3339_have_a_sign(#[case] micros: i64, #[case] text: &str) {
        let written = Timestamp::from_micros(micros).to_string();
        assert_eq!(written, text);
        assert!(written.len() <= WRITTEN_MAX);
    }

    #[rstest]
    #[case::no_offset("2026-03-01T09:00:00")]
    #[case::a_date("2026-03-01")]
    #[case::no_such_month("2026-13-01T09:00:00Z")]
    #[case::no_such_hour("2026-03-01T25:00:00Z")]
    #[case::no_such_second("2026-03-01T09:00:61Z")]
    #[case::no_such_offset("2026-03-01T09:00:00+24:00")]
    #[case::no_such_minute_of_an_offset("2026-03-01T09:00:00+01:60")]
    #[case::no_fraction("2026-03-01T09:00:00.Z")]
    #[case::a_sign_in_a_number("2026-03-01T+9:00:00Z")]
    #[case::text_after_it("2026-03-01T09:00:00Zulu")]
    #[case::a_zone_after_it("2026-03-01T09:00:00+01:00[Europe/Berlin]")]
    #[case::the_basic_form("20260301T090000Z")]
    #[case::a_space_at_its_start(" 01:00")]
    #[case::a_space_amid_nonsense("2026-03-01Tü9:00:00 01:00")]
    #[case::words("tomorrow")]
    #[case::empty("")]
    #[case::no_separator("2026-03-01_09:00:00Z")]
    #[case::too_long("2026-03-01T09:00:00.00000000000000000000000000000000000000000000001Z")]
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

    proptest! {
        /// A timestamp is read back from its text.
        #[test]
        fn the_written_form_is_read_back(timestamp in written_timestamp()) {
            prop_assert_eq!(timestamp.to_string().parse(), Ok(timestamp));
        }

        /// `chrono` reads the text of a timestamp as the same time.
        #[test]
        fn agrees_with_chrono(timestamp in written_timestamp()) {
            let theirs = DateTime::from_timestamp_micros(timestamp.as_micros()).unwrap();
            let ours = timestamp.to_string();
            prop_assert_eq!(DateTime::parse_from_rfc3339(&ours).unwrap(), theirs);
        }

        /// A text near the form of a timestamp is read exactly if `chrono` reads it, as the same time.
        ///
        /// The texts are so near the form that both readers accept some of them.
        #[test]
        fn reads_what_chrono_reads(text in "[0-2][0-9]{3}-[01][0-9]-[0-3][0-9][Tt ][0-2][0-9]:[0-6][0-9]:[0-6][0-9](\\.[0-9]{0,9})?([Zz]|[+-][0-2][0-9]:[0-6][0-9])") {
            let theirs = DateTime::parse_from_rfc3339(&text).ok().map(|time| time.timestamp_micros());
            prop_assert_eq!(text.parse::<Timestamp>().ok().map(Timestamp::as_micros), theirs);
        }

        /// Any text is read as a timestamp or refused.
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,70}") {
            let _ = text.parse::<Timestamp>();
        }
    }
}
