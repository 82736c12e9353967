//! Parses the text of a rule, with errors that name the part at fault, what is allowed and what was received.

use std::str::FromStr;

use kalends_time::{CivilDate, CivilDateTime, CivilTime, SignedDuration, Zone};

use crate::builder::{MONTHS, YEARS_WEEKS, ordinals, places, up_to, weekdays, whole};
use crate::dialect::Dialect;
use crate::error::RuleError;
use crate::limits::{MAX_COUNT, MAX_INTERVAL, MAX_RULE_LENGTH};
use crate::rule::{Frequency, Part, Rule, Until};
use crate::{Weekday, WeekdayNum};

impl FromStr for Rule {
    type Err = RuleError;

    /// The same as [`Rule::parse`].
    fn from_str(text: &str) -> Result<Self, RuleError> {
        Self::parse(text)
    }
}

impl Rule {
    /// Parses a rule in the form of RFC 5545 section 3.3.10, without the leading `RRULE:`.
    ///
    /// Case is ignored, and the parts may be in any order.
    ///
    /// # Errors
    /// [`RuleError`] if the text is too long, is not of that form, or has parts that must not be given together.
    ///
    /// ```
    /// use kalends_recurrence::Rule;
    ///
    /// assert_eq!(Rule::parse("byday=we,mo;freq=weekly")?.to_string(), "FREQ=WEEKLY;BYDAY=MO,WE");
    /// assert!(Rule::parse("RRULE:FREQ=WEEKLY").is_err());
    /// # Ok::<(), kalends_recurrence::RuleError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        Self::parse_as(text, &Dialect::RFC_5545)
    }

    /// The same as [`Rule::parse`], but accepts only the rules of a dialect. [`Dialect`] has an example.
    ///
    /// # Errors
    /// [`RuleError`]; it also lists what the dialect allows.
    pub fn parse_as(text: &str, dialect: &Dialect) -> Result<Self, RuleError> {
        let (length, most) = (text.chars().count(), dialect.max_length.min(MAX_RULE_LENGTH));
        if length > most {
            return Err(RuleError::TooLong { length, most });
        }
        if let Some((after, got)) = text.chars().enumerate().find(|(_, character)| character.is_control()) {
            return Err(RuleError::ControlCharacter { got, after });
        }
        let text = text.to_ascii_uppercase();
        if text.starts_with("RRULE:") {
            return Err(RuleError::Prefix);
        }
        let values = Values::split(&text, dialect)?;
        let missing = || RuleError::MissingFrequency { allowed: frequencies(dialect) };
        let frequency = frequency(values.of(Part::Freq).ok_or_else(missing)?, dialect)?;
        let most = dialect.max_interval.min(MAX_INTERVAL);
        let interval = values.of(Part::Interval).map_or(Ok(1), |value| number(Part::Interval, value, most))?;
        let mut rule = Self::builder(frequency)
            .interval(interval)
            .by_month(values.list(Part::ByMonth, |text| digits(text, 1, 12), || MONTHS.into())?)
            .by_week_number(values.list(Part::ByWeekNo, |text| place(text, 53), || places(53))?)
            .by_year_day(values.list(Part::ByYearDay, |text| place(text, 366), || places(366))?)
            .by_month_day(values.list(Part::ByMonthDay, |text| place(text, 31), || places(31))?)
            .by_day(by_day(&values, frequency)?)
            .by_hour(values.list(Part::ByHour, |text| digits(text, 0, 23), || up_to("hours", 23))?)
            .by_minute(values.list(Part::ByMinute, |text| digits(text, 0, 59), || up_to("minutes", 59))?)
            .by_second(values.list(Part::BySecond, |text| digits(text, 0, 60), || up_to("seconds", 60))?)
            .by_position(values.list(Part::BySetPos, |text| place(text, 366), || places(366))?);
        if let Some(value) = values.of(Part::Wkst) {
            let refused =
                || wrong(Part::Wkst, format!("one of {}", Weekday::ALL.map(Weekday::as_str).join(", ")), value);
            rule = rule.week_start(Weekday::read(value).ok_or_else(refused)?);
        }
        if let Some(value) = values.of(Part::Count) {
            rule = rule.count(number(Part::Count, value, dialect.max_count.min(MAX_COUNT))?);
        }
        if let Some(value) = values.of(Part::Until) {
            rule = rule.until(until(value, dialect)?);
        }
        rule.build()
    }
}

/// The value of each part, in the order of [`Part::ALL`].
struct Values<'a>([Option<&'a str>; Part::ALL.len()]);

impl<'a> Values<'a> {
    fn split(text: &'a str, dialect: &Dialect) -> Result<Self, RuleError> {
        let mut values = [None; Part::ALL.len()];
        if text.is_empty() {
            return Err(RuleError::MissingFrequency { allowed: frequencies(dialect) });
        }
        for piece in text.split(';') {
            let not_a_part = || RuleError::NotAPart { got: excerpt(piece) };
            let (name, value) = piece.split_once('=').ok_or_else(not_a_part)?;
            if name.is_empty() || value.is_empty() {
                return Err(not_a_part());
            }
            let index = Part::ALL.iter().position(|part| part.as_str() == name && dialect.parts.contains(part));
            let parts = || dialect.parts.iter().map(|part| part.as_str()).collect::<Vec<_>>().join(", ");
            let index = index.ok_or_else(|| RuleError::Unsupported { name: excerpt(name), allowed: parts() })?;
            if values[index].replace(value).is_some() {
                return Err(RuleError::Repeated { part: Part::ALL[index] });
            }
        }
        Ok(Self(values))
    }

    fn of(&self, wanted: Part) -> Option<&'a str> {
        Part::ALL.iter().zip(self.0).find(|(part, _)| **part == wanted)?.1
    }

    /// The values of a list, or none if the part is missing.
    fn list<T>(
        &self,
        part: Part,
        read: impl Fn(&str) -> Option<T>,
        allowed: impl Fn() -> String,
    ) -> Result<Vec<T>, RuleError> {
        let texts = self.of(part).into_iter().flat_map(|value| value.split(','));
        texts.map(|text| read(text).ok_or_else(|| wrong(part, allowed(), text))).collect()
    }
}

fn frequency(value: &str, dialect: &Dialect) -> Result<Frequency, RuleError> {
    let frequency = dialect.frequencies.iter().find(|frequency| frequency.as_str() == value);
    frequency.copied().ok_or_else(|| wrong(Part::Freq, format!("one of {}", frequencies(dialect)), value))
}

fn number(part: Part, value: &str, most: u32) -> Result<u32, RuleError> {
    digits(value, 1, most).ok_or_else(|| wrong(part, whole(most), value))
}

fn by_day(values: &Values<'_>, frequency: Frequency) -> Result<Vec<WeekdayNum>, RuleError> {
    let read = |text: &str| {
        let split = text.len().checked_sub(2).and_then(|at| text.split_at_checked(at));
        let named = split.and_then(|(ordinal, name)| Some((ordinal, Weekday::read(name)?)));
        let (ordinal, weekday) = named.ok_or_else(|| wrong(Part::ByDay, weekdays(frequency), text))?;
        if ordinal.is_empty() {
            return Ok(weekday.into());
        }
        let ordinal = place(ordinal, YEARS_WEEKS.into());
        let ordinal = ordinal.ok_or_else(|| wrong(Part::ByDay, ordinals(&weekdays(frequency)), text))?;
        Ok(WeekdayNum::nth(ordinal, weekday))
    };
    values.of(Part::ByDay).into_iter().flat_map(|value| value.split(',')).map(read).collect()
}

fn until(value: &str, dialect: &Dialect) -> Result<Until, RuleError> {
    let local = if dialect.local_until { ", a local date-time such as 20261231T235959" } else { "" };
    let allowed = || format!("a UTC date-time such as 20261231T235959Z{local} or a date such as 20261231");
    let read = read_until(value).filter(|until| dialect.local_until || !matches!(until, Until::Local(_)));
    read.ok_or_else(|| wrong(Part::Until, allowed(), value))
}

/// Reads the value of `UNTIL`, in any of its three forms.
pub(crate) fn read_until(value: &str) -> Option<Until> {
    let (date, time) = match value.split_once('T') {
        Some((date, time)) => (date, Some(time)),
        None => (value, None),
    };
    let [century, year, month, day] = pairs(date)?;
    let date = CivilDate::new(i32::try_from(century * 100 + year).ok()?, month, day)?;
    let Some(time) = time else {
        return Some(Until::Date(date));
    };
    let (time, is_utc) = match time.strip_suffix('Z') {
        Some(time) => (time, true),
        None => (time, false),
    };
    let [hour, minute, second] = pairs(time)?;
    // A leap second counts as the second after it, as everywhere in Kalends.
    let leap = i64::from(second == 60);
    let civil = date.at(CivilTime::new(hour, minute, if leap == 1 { 59 } else { second })?);
    let until = Zone::UTC.to_timestamp(civil)? + SignedDuration::seconds(leap);
    let later: CivilDateTime = Zone::UTC.to_civil(until);
    // The second after the last one has a year of five digits, which could not be written.
    let (year, ..) = later.date.year_month_day();
    (year <= 9_999).then_some(if is_utc { Until::Timestamp(until) } else { Until::Local(later) })
}

/// Parses pairs of digits, and nothing else.
fn pairs<const COUNT: usize>(text: &str) -> Option<[u32; COUNT]> {
    let digits = text.as_bytes();
    if digits.len() != 2 * COUNT || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let digit = |index: usize| u32::from(digits[index] - b'0');
    Some(std::array::from_fn(|pair| digit(2 * pair) * 10 + digit(2 * pair + 1)))
}

/// Parses a number with an optional sign and a magnitude from 1 to `most`.
pub(crate) fn place<T: TryFrom<i64>>(text: &str, most: u32) -> Option<T> {
    let (sign, magnitude) = match text.strip_prefix('-') {
        Some(magnitude) => (-1, magnitude),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let magnitude: i64 = digits(magnitude, 1, most)?;
    T::try_from(sign * magnitude).ok()
}

/// Parses digits without a sign, for a number from `least` to `most`.
pub(crate) fn digits<T: TryFrom<u32>>(text: &str, least: u32, most: u32) -> Option<T> {
    let number: u32 =
        (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())??;
    T::try_from(Some(number).filter(|number| (least..=most).contains(number))?).ok()
}

fn wrong(part: Part, allowed: String, got: &str) -> RuleError {
    RuleError::Value { part, allowed, got: excerpt(got) }
}

pub(crate) fn excerpt(text: &str) -> String {
    text.chars().take(40).collect()
}

fn frequencies(dialect: &Dialect) -> String {
    dialect.frequencies.iter().map(|frequency| frequency.as_str()).collect::<Vec<_>>().join(", ")
}
