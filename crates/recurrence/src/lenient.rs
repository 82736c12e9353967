//! Reads rules as other programs write them, and reports what it had to change.

use kalends_time::CivilDate;

use crate::builder::YEARS_WEEKS;
use crate::error::RuleError;
use crate::limits::MAX_RULE_LENGTH;
use crate::parse::{digits, excerpt, place, read_until};
use crate::rule::{Frequency, Part, Rule, Until};
use crate::{Weekday, WeekdayNum};

/// A rule that [`Rule::parse_lenient`] read, and what it changed to get a rule of RFC 5545. [`Rule::parse_lenient`] has
/// an example.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LenientRule {
    /// The rule.
    pub rule: Rule,
    /// What is different from the text, in the order in which it was found. Empty if the text is a rule of RFC 5545,
    /// apart from case, spaces and empty parts.
    pub warnings: Vec<RuleWarning>,
}

/// Something that [`Rule::parse_lenient`] changed.
///
/// ```
/// use kalends_recurrence::{Rule, RuleWarning};
///
/// let read = Rule::parse_lenient("FREQ=DAILY;COUNT=3;UNTIL=20261231")?;
/// assert_eq!(read.rule.to_string(), "FREQ=DAILY;UNTIL=20261231");
/// assert_eq!(read.warnings, [RuleWarning::CountAndUntil]);
/// # Ok::<(), kalends_recurrence::RuleError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleWarning {
    /// A part that RFC 5545 does not define. It is ignored.
    #[error("{name:?} is unknown and was ignored")]
    Unknown {
        /// The first characters of its name.
        name: String,
    },
    /// A part that is given twice. The first one counts.
    #[error("{part} is given more than once; the first one counts")]
    Repeated {
        /// The part.
        part: Part,
    },
    /// Both `COUNT` and `UNTIL` are given. `UNTIL` counts.
    #[error("COUNT and UNTIL are given together; UNTIL counts")]
    CountAndUntil,
    /// An ordinal where RFC 5545 does not allow one. The weekday counts without it.
    #[error("the ordinal of {got} in BYDAY has no meaning here; the weekday counts without it")]
    Ordinal {
        /// The weekday and its ordinal.
        got: String,
    },
    /// `BYWEEKNO` under another frequency than `YEARLY`, or `BYSETPOS` without a part to choose from. It is ignored.
    #[error("{part} has no meaning here and was ignored")]
    Misplaced {
        /// The part.
        part: Part,
    },
    /// `UNTIL` has a date, but its time of day cannot be read. The date counts.
    #[error("the time of UNTIL cannot be read; its date counts, got {got:?}")]
    UntilTime {
        /// The first characters of the value.
        got: String,
    },
}

impl Rule {
    /// Reads a rule as other programs write it: with `RRULE:` before it, spaces, empty parts, unknown parts, ordinals that
    /// have no meaning, both ends, or a damaged time of day in `UNTIL`.
    ///
    /// A value outside its range is still an error, as are `BYMONTHDAY` and `BYYEARDAY` under a frequency that does not
    /// take them, and any other calendar than the Gregorian (`RSCALE`, RFC 7529): a guess would invent occurrences.
    ///
    /// ```
    /// use kalends_recurrence::Rule;
    ///
    /// let read = Rule::parse_lenient("RRULE: FREQ=WEEKLY; BYDAY=1MO,WE;X-NOTE=1;")?;
    /// assert_eq!(read.rule.to_string(), "FREQ=WEEKLY;BYDAY=MO,WE");
    /// let warnings: Vec<String> = read.warnings.iter().map(ToString::to_string).collect();
    /// assert_eq!(warnings, [
    ///     r#""X-NOTE" is unknown and was ignored"#,
    ///     "the ordinal of 1MO in BYDAY has no meaning here; the weekday counts without it",
    /// ]);
    /// # Ok::<(), kalends_recurrence::RuleError>(())
    /// ```
    ///
    /// # Errors
    /// [`RuleError`] if there is no `FREQ`, or a value is not one of its part.
    pub fn parse_lenient(text: &str) -> Result<LenientRule, RuleError> {
        let length = text.chars().count();
        if length > MAX_RULE_LENGTH {
            return Err(RuleError::TooLong { length, most: MAX_RULE_LENGTH });
        }
        let text: String = text.chars().filter(|character| !character.is_whitespace()).collect();
        let text = text.to_ascii_uppercase();
        let text = text.strip_prefix("RRULE:").unwrap_or(&text);
        let mut reading = Reading { values: [None; Part::ALL.len()], warnings: Vec::new() };
        for (name, value) in text.split(';').filter_map(|part| part.split_once('=')) {
            reading.take(name, value)?;
        }
        reading.rule()
    }
}

struct Reading<'a> {
    /// The value of each part, in the order of [`Part::ALL`].
    values: [Option<&'a str>; Part::ALL.len()],
    warnings: Vec<RuleWarning>,
}

impl<'a> Reading<'a> {
    fn take(&mut self, name: &str, value: &'a str) -> Result<(), RuleError> {
        let known = Part::ALL.iter().zip(&mut self.values).find(|(part, _)| part.as_str() == name);
        match known {
            _ if value.is_empty() => {}
            Some((_, place @ None)) => *place = Some(value),
            Some((_, Some(first))) if *first == value => {}
            Some((part, Some(_))) => self.warnings.push(RuleWarning::Repeated { part: *part }),
            // RFC 7529: the Gregorian calendar is the default, and omitting invalid dates is what RFC 5545 does.
            None if matches!((name, value), ("RSCALE", "GREGORIAN") | ("SKIP", "OMIT")) => {}
            None if matches!(name, "RSCALE" | "SKIP") => {
                let allowed = Part::ALL.map(Part::as_str).join(", ");
                return Err(RuleError::Unsupported { name: excerpt(name), allowed });
            }
            None => self.warnings.push(RuleWarning::Unknown { name: excerpt(name) }),
        }
        Ok(())
    }

    fn of(&self, wanted: Part) -> Option<&'a str> {
        Part::ALL.iter().zip(self.values).find(|(part, _)| **part == wanted)?.1
    }

    fn rule(mut self) -> Result<LenientRule, RuleError> {
        let frequencies = || Frequency::ALL.map(Frequency::as_str).join(", ");
        let value = self.of(Part::Freq).ok_or_else(|| RuleError::MissingFrequency { allowed: frequencies() })?;
        let frequency = Frequency::ALL.into_iter().find(|frequency| frequency.as_str() == value);
        let frequency = frequency.ok_or_else(|| refused(Part::Freq, &format!("one of {}", frequencies()), value))?;
        let has_weeks = self.of(Part::ByWeekNo).is_some_and(|_| frequency == Frequency::Yearly);
        let mut rule = Rule::builder(frequency);
        let mut chooses = false;
        for part in Part::ALL {
            let Some(value) = self.of(part) else { continue };
            let misplaced = match part {
                Part::ByWeekNo => frequency != Frequency::Yearly,
                Part::BySetPos => !chooses,
                Part::Count => self.of(Part::Until).is_some(),
                _ => false,
            };
            if misplaced {
                let warning = RuleWarning::Misplaced { part };
                self.warnings.push(if part == Part::Count { RuleWarning::CountAndUntil } else { warning });
                continue;
            }
            chooses |= !matches!(part, Part::Freq | Part::Interval);
            rule = match part {
                Part::Freq => rule,
                Part::Interval => rule.interval(number(part, value)?),
                Part::ByMonth => rule.by_month(list(part, value, |text| digits(text, 1, 12))?),
                Part::ByWeekNo => rule.by_week_number(list(part, value, |text| place(text, 53))?),
                Part::ByYearDay => rule.by_year_day(list(part, value, |text| place(text, 366))?),
                Part::ByMonthDay => rule.by_month_day(list(part, value, |text| place(text, 31))?),
                Part::ByHour => rule.by_hour(list(part, value, |text| digits(text, 0, 23))?),
                Part::ByMinute => rule.by_minute(list(part, value, |text| digits(text, 0, 59))?),
                Part::BySecond => rule.by_second(list(part, value, |text| digits(text, 0, 60))?),
                Part::BySetPos => rule.by_position(list(part, value, |text| place(text, 366))?),
                Part::ByDay => {
                    let ordinals = matches!(frequency, Frequency::Monthly | Frequency::Yearly) && !has_weeks;
                    let days = list(part, value, read_day)?;
                    rule.by_day(days.into_iter().map(|day| if ordinals { day } else { self.plain(day) }))
                }
                Part::Wkst => {
                    let day = Weekday::read(value).ok_or_else(|| refused(part, "a weekday", value))?;
                    rule.week_start(day)
                }
                Part::Count => rule.count(number(part, value)?),
                Part::Until => rule.until(self.until(value)?),
            };
        }
        Ok(LenientRule { rule: rule.build()?, warnings: self.warnings })
    }

    fn plain(&mut self, day: WeekdayNum) -> WeekdayNum {
        if day.ordinal.is_some() {
            self.warnings.push(RuleWarning::Ordinal { got: day.to_string() });
        }
        day.weekday.into()
    }

    fn until(&mut self, value: &str) -> Result<Until, RuleError> {
        if let Some(until) = read_until(value) {
            return Ok(until);
        }
        let date = value.get(..8).and_then(|date| match read_until(date)? {
            Until::Date(date) => Some(date),
            Until::Timestamp(_) | Until::Local(_) => None,
        });
        let date: CivilDate = date.ok_or_else(|| refused(Part::Until, "a date or a date-time", value))?;
        self.warnings.push(RuleWarning::UntilTime { got: excerpt(value) });
        Ok(date.into())
    }
}

fn number(part: Part, value: &str) -> Result<u32, RuleError> {
    digits(value, 1, u32::MAX).ok_or_else(|| refused(part, "a whole number from 1", value))
}

fn read_day(text: &str) -> Option<WeekdayNum> {
    let (ordinal, name) = text.split_at_checked(text.len().checked_sub(2)?)?;
    let weekday = Weekday::read(name)?;
    Some(if ordinal.is_empty() {
        weekday.into()
    } else {
        WeekdayNum::nth(place(ordinal, YEARS_WEEKS.into())?, weekday)
    })
}

/// The values of a list. Empty ones are ignored.
fn list<T>(part: Part, value: &str, read: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, RuleError> {
    let texts = value.split(',').filter(|text| !text.is_empty());
    texts.map(|text| read(text).ok_or_else(|| refused(part, "values of RFC 5545", text))).collect()
}

fn refused(part: Part, allowed: &str, got: &str) -> RuleError {
    RuleError::Value { part, allowed: allowed.to_owned(), got: excerpt(got) }
}
