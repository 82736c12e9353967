//! Recurrence rules in all the forms of RFC 5545 section 3.3.10, including those outside the supported subset.

use kalends_kernel::CivilDate;

use super::values::{Form, When, date};
use crate::limits::RULE_VALUES_MAX;

const WEEKDAYS: [&str; 7] = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];

/// The frequency of a rule, least frequent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Frequency {
    Yearly,
    Monthly,
    Weekly,
    Daily,
    Hourly,
    Minutely,
    Secondly,
}

const FREQUENCIES: [(&str, Frequency); 7] = [
    ("YEARLY", Frequency::Yearly),
    ("MONTHLY", Frequency::Monthly),
    ("WEEKLY", Frequency::Weekly),
    ("DAILY", Frequency::Daily),
    ("HOURLY", Frequency::Hourly),
    ("MINUTELY", Frequency::Minutely),
    ("SECONDLY", Frequency::Secondly),
];

/// A rule. Lists are ascending and without duplicates. An empty list restricts nothing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct AnyRule {
    pub(super) frequency: Frequency,
    pub(super) interval: i64,
    pub(super) count: Option<u64>,
    pub(super) until: Option<When>,
    pub(super) seconds: Vec<i64>,
    pub(super) minutes: Vec<i64>,
    pub(super) hours: Vec<i64>,
    /// The ordinal (0 if there is none) and the weekday (Monday is 0).
    pub(super) days: Vec<(i64, i64)>,
    pub(super) month_days: Vec<i64>,
    pub(super) year_days: Vec<i64>,
    pub(super) weeks: Vec<i64>,
    pub(super) months: Vec<i64>,
    pub(super) positions: Vec<i64>,
    /// Monday is 0.
    pub(super) week_start: i64,
}

impl AnyRule {
    fn new(frequency: Frequency) -> Self {
        Self {
            frequency,
            interval: 1,
            count: None,
            until: None,
            seconds: Vec::new(),
            minutes: Vec::new(),
            hours: Vec::new(),
            days: Vec::new(),
            month_days: Vec::new(),
            year_days: Vec::new(),
            weeks: Vec::new(),
            months: Vec::new(),
            positions: Vec::new(),
            week_start: 0,
        }
    }

    /// Reads a rule. Spaces, empty parts and unknown parts, such as extensions (`X-`), are ignored. A rule without
    /// `FREQ`, or with a value that RFC 5545 does not define, is refused, because a guess would invent occurrences.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_uppercase();
        let parts =
            || text.split(';').filter_map(|part| part.split_once('=')).map(|(name, value)| (name.trim(), value.trim()));
        let frequency = parts().find(|(name, _)| *name == "FREQ")?.1;
        let (_, frequency) = FREQUENCIES.into_iter().find(|(name, _)| *name == frequency)?;
        let mut rule = Self::new(frequency);
        for (name, value) in parts().filter(|(_, value)| !value.is_empty()) {
            rule.set(name, value)?;
        }
        // Ordinals have a meaning only within months and years (section 3.3.10).
        if frequency > Frequency::Monthly || !rule.weeks.is_empty() {
            rule.days.iter_mut().for_each(|(ordinal, _)| *ordinal = 0);
            rule.days.sort_unstable();
            rule.days.dedup();
        }
        Some(rule)
    }

    fn set(&mut self, name: &str, value: &str) -> Option<()> {
        match name {
            "INTERVAL" => self.interval = integer(value, 1, 1_000_000_000)?,
            "COUNT" => self.count = Some(u64::try_from(integer(value, 1, i64::from(u32::MAX))?).ok()?),
            "UNTIL" => self.until = Some(until(value)?),
            "BYSECOND" => self.seconds = list(value, |text| integer(text, 0, 60).map(|second| second.min(59)))?,
            "BYMINUTE" => self.minutes = list(value, |text| integer(text, 0, 59))?,
            "BYHOUR" => self.hours = list(value, |text| integer(text, 0, 23))?,
            "BYDAY" => self.days = list(value, weekday)?,
            "BYMONTHDAY" => self.month_days = list(value, |text| place(text, 31))?,
            "BYYEARDAY" => self.year_days = list(value, |text| place(text, 366))?,
            "BYWEEKNO" => self.weeks = list(value, |text| place(text, 53))?,
            "BYMONTH" => self.months = list(value, |text| integer(text, 1, 12))?,
            "BYSETPOS" => self.positions = list(value, |text| place(text, 366))?,
            "WKST" => self.week_start = weekday(value).filter(|(ordinal, _)| *ordinal == 0)?.1,
            // RFC 7529: only the Gregorian calendar, and only the behaviour of RFC 5545, which skips invalid dates.
            "RSCALE" if value != "GREGORIAN" => return None,
            "SKIP" if value != "OMIT" => return None,
            _ => {}
        }
        Some(())
    }

    /// The text of the rule in the subset, without its end. `None` if it has parts outside the subset.
    pub(super) fn subset_text(&self) -> Option<String> {
        let foreign = [&self.seconds, &self.minutes, &self.hours, &self.year_days, &self.weeks];
        if self.frequency > Frequency::Daily || foreign.iter().any(|list| !list.is_empty()) {
            return None;
        }
        let (name, _) = FREQUENCIES.into_iter().find(|(_, frequency)| *frequency == self.frequency)?;
        let mut text = format!("FREQ={name};INTERVAL={}", self.interval);
        let days = self.days.iter().filter_map(|(ordinal, day)| {
            let name = WEEKDAYS.get(usize::try_from(*day).ok()?)?;
            Some(if *ordinal == 0 { (*name).to_owned() } else { format!("{ordinal}{name}") })
        });
        put(&mut text, "BYDAY", days);
        put(&mut text, "BYMONTH", self.months.iter().map(i64::to_string));
        put(&mut text, "BYMONTHDAY", self.month_days.iter().map(i64::to_string));
        put(&mut text, "BYSETPOS", self.positions.iter().map(i64::to_string));
        let week_start = usize::try_from(self.week_start).ok().and_then(|day| WEEKDAYS.get(day));
        put(&mut text, "WKST", week_start.into_iter().map(|day| (*day).to_owned()));
        Some(text)
    }
}

fn put(text: &mut String, name: &str, values: impl Iterator<Item = String>) {
    for (index, value) in values.enumerate() {
        match index {
            0 => text.extend([";", name, "="]),
            _ => text.push(','),
        }
        text.push_str(&value);
    }
}

fn until(value: &str) -> Option<When> {
    // Some producers write a date with a time of day that is cut short or has separators. Only the day counts.
    When::parse(value, Form::Floating, false).or_else(|| {
        let day = date(value.get(..8)?).map(CivilDate::as_days)?;
        Some(When { local: day * super::values::DAY, form: Form::Date })
    })
}

fn list<T: Ord>(value: &str, read: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    let mut values = Vec::new();
    for text in value.split(',').map(str::trim).filter(|text| !text.is_empty()) {
        if values.len() == RULE_VALUES_MAX {
            return None;
        }
        values.push(read(text)?);
    }
    values.sort_unstable();
    values.dedup();
    Some(values)
}

fn integer(text: &str, least: i64, most: i64) -> Option<i64> {
    let digits = !text.is_empty() && text.len() <= 12 && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.then(|| text.parse::<i64>().ok())??;
    (least..=most).contains(&number).then_some(number)
}

/// A number with an optional sign. It is not 0, and its magnitude is at most `most`.
fn place(text: &str, most: i64) -> Option<i64> {
    match text.strip_prefix('-') {
        Some(magnitude) => integer(magnitude, 1, most).map(|number| -number),
        None => integer(text.strip_prefix('+').unwrap_or(text), 1, most),
    }
}

fn weekday(text: &str) -> Option<(i64, i64)> {
    let (ordinal, name) = text.split_at_checked(text.len().checked_sub(2)?)?;
    let (day, _) = (0..).zip(WEEKDAYS).find(|(_, known)| *known == name)?;
    Some((if ordinal.is_empty() { 0 } else { place(ordinal.trim(), 53)? }, day))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("FREQ=WEEKLY;BYDAY=MO, WE;WKST=SU;", Some("FREQ=WEEKLY;INTERVAL=1;BYDAY=MO,WE;WKST=SU"))]
    #[case("freq=monthly;byday=-1fr;interval=2", Some("FREQ=MONTHLY;INTERVAL=2;BYDAY=-1FR;WKST=MO"))]
    #[case("FREQ=WEEKLY;BYDAY=1MO,MO", Some("FREQ=WEEKLY;INTERVAL=1;BYDAY=MO;WKST=MO"))]
    #[case("RSCALE=GREGORIAN;FREQ=DAILY;SKIP=OMIT;X-A=1", Some("FREQ=DAILY;INTERVAL=1;WKST=MO"))]
    #[case("FREQ=DAILY;BYHOUR=9", None)]
    #[case("FREQ=HOURLY", None)]
    fn rules_of_the_subset_have_a_text(#[case] text: &str, #[case] subset: Option<&str>) {
        assert_eq!(AnyRule::parse(text).unwrap().subset_text().as_deref(), subset);
    }

    #[rstest]
    #[case("")]
    #[case("INTERVAL=2")]
    #[case("FREQ=SOMETIMES")]
    #[case("FREQ=DAILY;INTERVAL=0")]
    #[case("FREQ=DAILY;COUNT=0")]
    #[case("FREQ=DAILY;COUNT=-1")]
    #[case("FREQ=DAILY;UNTIL=soon")]
    #[case("FREQ=WEEKLY;BYDAY=XX")]
    #[case("FREQ=MONTHLY;BYMONTHDAY=32")]
    #[case("FREQ=MONTHLY;BYMONTHDAY=0")]
    #[case("FREQ=YEARLY;RSCALE=CHINESE")]
    #[case("FREQ=YEARLY;WKST=1MO")]
    fn undefined_rules_are_refused(#[case] text: &str) {
        assert_eq!(AnyRule::parse(text), None);
    }

    #[test]
    fn lists_are_bounded() {
        let many = |count| format!("FREQ=DAILY;BYHOUR={}", vec!["1"; count].join(","));
        assert_eq!(AnyRule::parse(&many(RULE_VALUES_MAX)).unwrap().hours, [1]);
        assert_eq!(AnyRule::parse(&many(RULE_VALUES_MAX + 1)), None);
    }
}
