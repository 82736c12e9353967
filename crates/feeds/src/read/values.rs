//! The values of properties: dates, lengths, offsets and texts (RFC 5545 section 3.3).

use kalends_time::{CivilDate, CivilDateTime, CivilTime};

pub(super) const DAY: i64 = 86_400;

/// A date or date-time as written, before its zone is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct When {
    /// The civil time, in seconds since 1970-01-01T00:00 on the same clock.
    pub(super) local: i64,
    pub(super) form: Form,
}

/// How a [`When`] relates to UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Form {
    /// A whole day.
    Date,
    Utc,
    /// No zone.
    Floating,
    /// The zone with that number among the names that the feed uses.
    Zoned(u32),
}

impl When {
    /// Reads `20260101`, `20260101T090000` or `20260101T090000Z`. `zone` is the form of a date-time without `Z`. An
    /// offset instead of `Z` is not valid iCalendar, but is accepted.
    pub(super) fn parse(text: &str, zone: Form, only_date: bool) -> Option<Self> {
        let text = text.trim();
        let day = date(text.get(..8)?)?.as_days() * DAY;
        let Some(time) = text.get(8..).filter(|time| !time.is_empty()) else {
            return Some(Self { local: day, form: Form::Date });
        };
        let time = time.strip_prefix(['T', 't'])?;
        let local = day + time_of_day(time.get(..6).filter(|digits| is_digits(digits))?)?;
        let form = match time.get(6..)? {
            _ if only_date => return Some(Self { local: day, form: Form::Date }),
            "" => zone,
            "Z" | "z" => Form::Utc,
            numeric => return Some(Self { local: local - offset(numeric)?, form: Form::Utc }),
        };
        Some(Self { local, form })
    }

    pub(super) const fn is_date(self) -> bool {
        matches!(self.form, Form::Date)
    }

    /// The number of the day, counted from 1970-01-01.
    pub(super) const fn day(self) -> i64 {
        self.local.div_euclid(DAY)
    }
}

/// Seconds since 1970-01-01T00:00 on the same clock.
pub(super) fn local_seconds(civil: CivilDateTime) -> i64 {
    civil.date.as_days() * DAY + civil.time.as_micros() / 1_000_000
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Reads `YYYYMMDD`.
pub(super) fn date(text: &str) -> Option<CivilDate> {
    if text.len() != 8 || !is_digits(text) {
        return None;
    }
    CivilDate::new(text.get(..4)?.parse().ok()?, text.get(4..6)?.parse().ok()?, text.get(6..)?.parse().ok()?)
}

/// Reads `HHMMSS` as seconds. A leap second counts as the second after it, and 24:00 as the next midnight.
fn time_of_day(digits: &str) -> Option<i64> {
    let part = |range: std::ops::Range<usize>| digits.get(range)?.parse::<i64>().ok();
    let (hour, minute, second) = (part(0..2)?, part(2..4)?, part(4..6)?);
    let valid = (hour < 24 && minute < 60 && second <= 60) || (hour, minute, second) == (24, 0, 0);
    valid.then_some(hour * 3_600 + minute * 60 + second)
}

/// Reads `+0100`, `-0330` or `+012345` as seconds, less than a day.
pub(super) fn offset(text: &str) -> Option<i64> {
    let text = text.trim();
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => (-1, text.get(1..)?),
        b'+' => (1, text.get(1..)?),
        _ => (1, text),
    };
    if !is_digits(digits) || !matches!(digits.len(), 4 | 6) {
        return None;
    }
    let part = |at: usize| digits.get(at..at + 2).map_or(Some(0), |two| two.parse::<i64>().ok());
    let (hours, minutes, seconds) = (part(0)?, part(2)?, part(4)?);
    (hours < 24 && minutes < 60 && seconds < 60).then_some(sign * (hours * 3_600 + minutes * 60 + seconds))
}

/// A length: nominal days, followed by seconds of elapsed time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Lasting {
    pub(super) days: i64,
    pub(super) seconds: i64,
}

impl Lasting {
    /// Reads `P1W`, `PT1H30M` or `-P1DT2H`. `None` also if a number is absurdly large.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (sign, text) = match text.strip_prefix('-') {
            Some(text) => (-1, text),
            None => (1, text.strip_prefix('+').unwrap_or(text)),
        };
        let mut lasting = Self { days: 0, seconds: 0 };
        let (mut in_time, mut number, mut parts) = (false, None::<i64>, 0);
        for byte in text.strip_prefix(['P', 'p'])?.bytes() {
            if byte.is_ascii_digit() {
                let shifted = number.unwrap_or(0) * 10 + i64::from(byte - b'0');
                number = Some(shifted).filter(|number| *number < 10_000_000_000);
                number?;
                continue;
            }
            if matches!(byte, b'T' | b't') && !in_time && number.is_none() {
                in_time = true;
                continue;
            }
            let count = sign * number.take()?;
            parts += 1;
            match (byte.to_ascii_uppercase(), in_time) {
                (b'W', false) => lasting.days += 7 * count,
                (b'D', false) => lasting.days += count,
                (b'H', true) => lasting.seconds += 3_600 * count,
                (b'M', true) => lasting.seconds += 60 * count,
                (b'S', true) => lasting.seconds += count,
                _ => return None,
            }
            // A valid length has fewer than ten parts. This bound keeps the sum far from overflowing.
            if parts > 10 {
                return None;
            }
        }
        (number.is_none() && parts > 0).then_some(lasting)
    }
}

/// The civil time `local` seconds after 1970-01-01T00:00 on the same clock.
pub(super) fn civil(local: i64) -> CivilDateTime {
    let time = CivilTime::from_micros(local.rem_euclid(DAY) * 1_000_000).unwrap_or(CivilTime::MIDNIGHT);
    CivilDateTime { date: CivilDate::from_days(local.div_euclid(DAY)), time }
}

/// Unescapes a text to one line of at most `max` characters, without control characters.
pub(super) fn line_of_text(escaped: &str, max: usize) -> String {
    let mut text = String::new();
    // Bounded before spaces are collapsed, so that a text of a million spaces is not walked twice.
    for word in unescaped(escaped, 4 * max).split_whitespace() {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(word);
    }
    cut(&mut text, max);
    text
}

/// Unescapes a text to at most `max` characters, without control characters other than line breaks and tabs.
pub(super) fn lines_of_text(escaped: &str, max: usize) -> String {
    let text = unescaped(escaped, max);
    text.trim().to_owned()
}

fn unescaped(escaped: &str, max: usize) -> String {
    let mut text = String::with_capacity(escaped.len().min(4 * max));
    let mut characters = escaped.chars();
    let mut length = 0;
    while let Some(character) = characters.next() {
        let character = match character {
            '\\' => match characters.next() {
                Some('n' | 'N') => '\n',
                Some(other) => other,
                None => '\\',
            },
            other => other,
        };
        // All control characters, not only NUL: none has a meaning in a title.
        if character.is_control() && !matches!(character, '\n' | '\t') {
            continue;
        }
        if length == max {
            break;
        }
        length += 1;
        text.push(character);
    }
    text
}

pub(super) fn cut(text: &mut String, max: usize) {
    if let Some((at, _)) = text.char_indices().nth(max) {
        text.truncate(at);
        text.truncate(text.trim_end().len());
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const NOON: i64 = 1_767_225_600 + 43_200;

    #[rstest]
    #[case("20260101", Some((1_767_225_600, Form::Date)))]
    #[case("20260101T120000", Some((NOON, Form::Floating)))]
    #[case("20260101T120000Z", Some((NOON, Form::Utc)))]
    #[case("20260101t120000z", Some((NOON, Form::Utc)))]
    #[case("20260101T130000+0100", Some((NOON, Form::Utc)))]
    #[case("20260101T115960Z", Some((NOON, Form::Utc)))]
    #[case("20251231T240000Z", Some((1_767_225_600, Form::Utc)))]
    #[case("20260229", None)]
    #[case("20260101T1200", None)]
    #[case("20260101T126000Z", None)]
    #[case("20260101X", None)]
    #[case("2026-01-01", None)]
    #[case("+0260101", None)]
    #[case("2026010\u{fc}", None)]
    #[case("", None)]
    fn dates(#[case] text: &str, #[case] expected: Option<(i64, Form)>) {
        let parsed = When::parse(text, Form::Floating, false);
        assert_eq!(parsed.map(|when| (when.local, when.form)), expected);
    }

    #[rstest]
    #[case("PT1H30M", Some((0, 5_400)))]
    #[case("P1W", Some((7, 0)))]
    #[case("P1DT2H", Some((1, 7_200)))]
    #[case("-PT5M", Some((0, -300)))]
    #[case("PT0S", Some((0, 0)))]
    #[case("P", None)]
    #[case("PT", None)]
    #[case("1H", None)]
    #[case("PT1", None)]
    #[case("P1H", None)]
    #[case("PT99999999999H", None)]
    #[case("PT1H1H1H1H1H1H1H1H1H1H1H", None)]
    fn lengths(#[case] text: &str, #[case] expected: Option<(i64, i64)>) {
        assert_eq!(Lasting::parse(text).map(|lasting| (lasting.days, lasting.seconds)), expected);
    }

    #[rstest]
    #[case("+0100", Some(3_600))]
    #[case("-0330", Some(-12_600))]
    #[case("+012345", Some(5_025))]
    #[case("0000", Some(0))]
    #[case("+2400", None)]
    #[case("+1", None)]
    #[case("Z", None)]
    fn offsets(#[case] text: &str, #[case] expected: Option<i64>) {
        assert_eq!(offset(text), expected);
    }

    #[test]
    fn texts() {
        assert_eq!(line_of_text("a\\, b\\;\\\\ \\n c\0\u{7}", 500), "a, b;\\ c");
        assert_eq!(lines_of_text(" one\\ntwo\\", 500), "one\ntwo\\");
        assert_eq!(line_of_text(&"\u{fc}".repeat(600), 500).chars().count(), 500);
        assert_eq!(lines_of_text(&"x".repeat(600), 500).len(), 500);
    }
}
