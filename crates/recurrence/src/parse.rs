//! Parses a rule, with errors that name the part at fault, what is allowed and what was received.

use std::str::FromStr;

use kalends_kernel::{CivilDate, CivilDateTime, CivilTime, SignedDuration, Zone};

use crate::rule::{ByDay, End, WEEKDAYS};
use crate::sets::{Place, Places};
use crate::{Frequency, MAX_COUNT, MAX_INTERVAL, MAX_RULE_LENGTH, Part, Rule, Until};

/// Why a text is not a rule of the subset.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// More than [`MAX_RULE_LENGTH`] characters.
    #[error("must be at most {MAX_RULE_LENGTH} characters long, got {length}")]
    TooLong {
        /// The number of characters.
        length: usize,
    },
    /// A line break or another control character.
    #[error("must be one line without control characters, got {got:?} after {after} characters")]
    ControlCharacter {
        /// The character.
        got: char,
        /// The number of characters before it.
        after: usize,
    },
    /// A leading `RRULE:`.
    #[error("must not begin with RRULE: (leave it out and begin with FREQ=)")]
    Prefix,
    /// Text between two semicolons that has no name, no equals sign or no value.
    #[error("must be parts such as FREQ=WEEKLY, separated by single semicolons, got {got:?}")]
    NotAPart {
        /// Its first characters.
        got: String,
    },
    /// A part that is unknown, or that is in RFC 5545 but not in the subset.
    #[error("{name} is not supported; the parts are {}", Part::ALL.map(Part::as_str).join(", "))]
    Unsupported {
        /// The first characters of its name.
        name: String,
    },
    /// A part that is given twice.
    #[error("{part} must be given once")]
    Repeated {
        /// The part.
        part: Part,
    },
    /// No `FREQ`.
    #[error("FREQ is missing: one of {}", frequencies())]
    MissingFrequency,
    /// A value that the part does not take.
    #[error("{part} must be {allowed}, got {got:?}")]
    Value {
        /// The part.
        part: Part,
        /// What the part takes.
        allowed: String,
        /// The first characters of the value.
        got: String,
    },
    /// Both `COUNT` and `UNTIL`.
    #[error("COUNT and UNTIL must not be given together")]
    CountAndUntil,
    /// A weekday with an ordinal under `DAILY` or `WEEKLY`.
    #[error(
        "BYDAY takes ordinals under FREQ=MONTHLY and FREQ=YEARLY only; under {frequency} it must be plain weekdays, got {got:?}"
    )]
    OrdinalFrequency {
        /// The rule's frequency.
        frequency: Frequency,
        /// The weekday and its ordinal.
        got: String,
    },
    /// An ordinal that no month has.
    #[error("BYDAY ordinals that count within a month must be 1 to 5 or -5 to -1, got {got:?}")]
    OrdinalOfMonth {
        /// The weekday and its ordinal.
        got: String,
    },
    /// `BYMONTHDAY` under `WEEKLY`.
    #[error("BYMONTHDAY must not be given under FREQ=WEEKLY (use DAILY, MONTHLY or YEARLY)")]
    MonthDayUnderWeekly,
    /// `BYSETPOS` without a part that it could choose from.
    #[error("BYSETPOS must be given together with BYDAY, BYMONTHDAY or BYMONTH")]
    PositionAlone,
}

impl RuleError {
    /// The part at fault, if it is one of the subset.
    pub const fn part(&self) -> Option<Part> {
        match self {
            Self::TooLong { .. }
            | Self::ControlCharacter { .. }
            | Self::Prefix
            | Self::NotAPart { .. }
            | Self::Unsupported { .. } => None,
            Self::Repeated { part } | Self::Value { part, .. } => Some(*part),
            Self::MissingFrequency => Some(Part::Freq),
            Self::CountAndUntil => Some(Part::Until),
            Self::OrdinalFrequency { .. } | Self::OrdinalOfMonth { .. } => Some(Part::ByDay),
            Self::MonthDayUnderWeekly => Some(Part::ByMonthDay),
            Self::PositionAlone => Some(Part::BySetPos),
        }
    }
}

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
    /// [`RuleError`] if the text is too long, is not of that form, or has a part or a value outside the subset.
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        let length = text.chars().count();
        if length > MAX_RULE_LENGTH {
            return Err(RuleError::TooLong { length });
        }
        if let Some((after, got)) = text.chars().enumerate().find(|(_, character)| character.is_control()) {
            return Err(RuleError::ControlCharacter { got, after });
        }
        let text = text.to_ascii_uppercase();
        if text.starts_with("RRULE:") {
            return Err(RuleError::Prefix);
        }
        let values = Values::split(&text)?;
        let frequency = frequency(values.of(Part::Freq).ok_or(RuleError::MissingFrequency)?)?;
        let rule = Self {
            frequency,
            interval: values.of(Part::Interval).map_or(Ok(1), |value| number(Part::Interval, value, MAX_INTERVAL))?,
            months: values.of(Part::ByMonth).map_or(Ok(0), months)?,
            month_days: values
                .of(Part::ByMonthDay)
                .map_or(Ok(Places::NONE), |value| places(Part::ByMonthDay, value, 31))?,
            days: values
                .of(Part::ByDay)
                .map_or(Ok(ByDay::NONE), |value| by_day(value, frequency, values.of(Part::ByMonth).is_some()))?,
            positions: values
                .of(Part::BySetPos)
                .map_or(Ok(Places::NONE), |value| places(Part::BySetPos, value, 366))?,
            week_start: values.of(Part::Wkst).map_or(Ok(0), week_start)?,
            end: end(&values)?,
        };
        if frequency == Frequency::Weekly && !rule.month_days.is_empty() {
            return Err(RuleError::MonthDayUnderWeekly);
        }
        if !rule.positions.is_empty() && rule.days.is_empty() && rule.month_days.is_empty() && rule.months == 0 {
            return Err(RuleError::PositionAlone);
        }
        Ok(rule)
    }
}

/// The value of each part, in the order of [`Part::ALL`].
struct Values<'a>([Option<&'a str>; Part::ALL.len()]);

impl<'a> Values<'a> {
    fn split(text: &'a str) -> Result<Self, RuleError> {
        let mut values = [None; Part::ALL.len()];
        if text.is_empty() {
            return Err(RuleError::MissingFrequency);
        }
        for piece in text.split(';') {
            let not_a_part = || RuleError::NotAPart { got: excerpt(piece) };
            let (name, value) = piece.split_once('=').ok_or_else(not_a_part)?;
            if name.is_empty() || value.is_empty() {
                return Err(not_a_part());
            }
            let index = Part::ALL.iter().position(|part| part.as_str() == name);
            let index = index.ok_or_else(|| RuleError::Unsupported { name: excerpt(name) })?;
            if values[index].replace(value).is_some() {
                return Err(RuleError::Repeated { part: Part::ALL[index] });
            }
        }
        Ok(Self(values))
    }

    fn of(&self, wanted: Part) -> Option<&'a str> {
        Part::ALL.iter().zip(self.0).find(|(part, _)| **part == wanted)?.1
    }
}

fn frequency(value: &str) -> Result<Frequency, RuleError> {
    let frequency = Frequency::ALL.into_iter().find(|frequency| frequency.as_str() == value);
    frequency.ok_or_else(|| wrong(Part::Freq, format!("one of {}", frequencies()), value))
}

fn number(part: Part, value: &str, most: u16) -> Result<u16, RuleError> {
    digits(value, most).ok_or_else(|| wrong(part, format!("a whole number from 1 to {most}"), value))
}

fn months(value: &str) -> Result<u16, RuleError> {
    let month = |month| {
        digits(month, 12).ok_or_else(|| wrong(Part::ByMonth, "months from 1 to 12, separated by commas".into(), month))
    };
    value.split(',').try_fold(0, |months, text| Ok(months | 1 << (month(text)? - 1)))
}

fn places<const WORDS: usize>(part: Part, value: &str, most: u16) -> Result<Places<WORDS>, RuleError> {
    let allowed = || format!("numbers from 1 to {most} or -{most} to -1, separated by commas");
    value.split(',').try_fold(Places::NONE, |mut places, text| {
        places.insert(place(text, most).ok_or_else(|| wrong(part, allowed(), text))?);
        Ok(places)
    })
}

fn by_day(value: &str, frequency: Frequency, has_month: bool) -> Result<ByDay, RuleError> {
    const YEARS_WEEKS: u16 = 53;
    const MONTHS_WEEKS: u16 = 5;
    let allowed = || {
        let ordinal = match frequency {
            Frequency::Daily | Frequency::Weekly => "",
            Frequency::Monthly | Frequency::Yearly => ", each with an optional ordinal before it",
        };
        format!("weekdays ({}){ordinal}, separated by commas", WEEKDAYS.join(", "))
    };
    let within_month = frequency == Frequency::Monthly || has_month;
    let mut days = ByDay::NONE;
    for text in value.split(',') {
        let split = text.len().checked_sub(2).and_then(|at| text.split_at_checked(at));
        let named =
            split.and_then(|(ordinal, name)| Some((ordinal, WEEKDAYS.iter().position(|known| *known == name)?)));
        let (ordinal, weekday) = named.ok_or_else(|| wrong(Part::ByDay, allowed(), text))?;
        if ordinal.is_empty() {
            days.every |= 1 << weekday;
            continue;
        }
        let place = place(ordinal, YEARS_WEEKS).ok_or_else(|| {
            wrong(Part::ByDay, format!("{}, ordinals from 1 to {YEARS_WEEKS} or -{YEARS_WEEKS} to -1", allowed()), text)
        })?;
        if matches!(frequency, Frequency::Daily | Frequency::Weekly) {
            return Err(RuleError::OrdinalFrequency { frequency, got: excerpt(text) });
        }
        if within_month && place.number > MONTHS_WEEKS {
            return Err(RuleError::OrdinalOfMonth { got: excerpt(text) });
        }
        days.numbered |= 1 << weekday;
        days.ordinals[weekday].insert(place);
    }
    Ok(days)
}

fn week_start(value: &str) -> Result<u8, RuleError> {
    let weekdays = (0..).zip(WEEKDAYS);
    let found = weekdays.into_iter().find(|(_, name)| *name == value);
    found.map(|(weekday, _)| weekday).ok_or_else(|| wrong(Part::Wkst, format!("one of {}", WEEKDAYS.join(", ")), value))
}

fn end(values: &Values<'_>) -> Result<End, RuleError> {
    match (values.of(Part::Count), values.of(Part::Until)) {
        (None, None) => Ok(End::Never),
        (Some(count), None) => number(Part::Count, count, MAX_COUNT).map(End::Count),
        (None, Some(value)) => {
            let allowed = "a UTC date-time such as 20261231T235959Z or a date such as 20261231";
            until(value).map(End::Until).ok_or_else(|| wrong(Part::Until, allowed.into(), value))
        }
        (Some(_), Some(_)) => Err(RuleError::CountAndUntil),
    }
}

fn until(value: &str) -> Option<Until> {
    let (date, time) = match value.split_once('T') {
        Some((date, time)) => (date, Some(time)),
        None => (value, None),
    };
    let [century, year, month, day] = pairs(date)?;
    let date = CivilDate::new(i32::try_from(century * 100 + year).ok()?, month, day)?;
    let Some(time) = time else {
        return Some(Until::Date(date));
    };
    let [hour, minute, second] = pairs(time.strip_suffix('Z')?)?;
    // A leap second counts as the second after it, as everywhere in Kalends.
    let leap = i64::from(second == 60);
    let time = CivilTime::new(hour, minute, if leap == 1 { 59 } else { second })?;
    let until = Zone::UTC.to_timestamp(CivilDateTime { date, time })? + SignedDuration::seconds(leap);
    // The second after the last one has a year of five digits, which could not be written.
    let (year, ..) = until.utc_date().year_month_day();
    (year <= 9_999).then_some(Until::Timestamp(until))
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
fn place(text: &str, most: u16) -> Option<Place> {
    let (from_end, magnitude) = match text.strip_prefix('-') {
        Some(magnitude) => (true, magnitude),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    Some(Place { from_end, number: digits(magnitude, most)? })
}

/// Parses digits without a sign, for a number from 1 to `most`.
fn digits(text: &str, most: u16) -> Option<u16> {
    let number: u16 = text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())??;
    (1..=most).contains(&number).then_some(number)
}

fn wrong(part: Part, allowed: String, got: &str) -> RuleError {
    RuleError::Value { part, allowed, got: excerpt(got) }
}

fn excerpt(text: &str) -> String {
    text.chars().take(40).collect()
}

fn frequencies() -> String {
    Frequency::ALL.map(Frequency::as_str).join(", ")
}
