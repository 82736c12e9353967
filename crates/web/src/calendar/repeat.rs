//! How an event repeats: the choices of a form, and a rule in words.
//!
//! Rules are the canonical text that the API returns. Its last part is the end of the series, if it has one.

use kalends_kernel::{FieldError, FieldErrors};
use kalends_time::{CivilDate, Timestamp, Zone};

use super::days::clock;
use crate::{
    field::{Choice, Field, Select},
    problems::Problems,
    time::{date_text, short_date},
};

/// The choice of no repetition, and that of no end.
const NEVER: &str = "never";
/// The choice of a rule that is typed.
const OTHER: &str = "rule";
/// The choice of an end after a number of occurrences.
const COUNT: &str = "count";
/// The choice of an end on a date.
const UNTIL: &str = "until";
/// The days from Monday to Friday, as a rule names them.
const WEEKDAYS: &str = "MO,TU,WE,TH,FR";
/// The simple rules, by their choices. What a rule leaves open comes from the start of the event, such as the day of
/// the week.
const SIMPLE: [(&str, &str); 6] = [
    ("daily", "FREQ=DAILY"),
    ("weekdays", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
    ("weekly", "FREQ=WEEKLY"),
    ("fortnightly", "FREQ=WEEKLY;INTERVAL=2"),
    ("monthly", "FREQ=MONTHLY"),
    ("yearly", "FREQ=YEARLY"),
];
const CHOICES: [Choice<'static>; 8] = [
    Choice { value: NEVER, title: "It does not repeat" },
    Choice { value: "daily", title: "Every day" },
    Choice { value: "weekdays", title: "Every weekday, Monday to Friday" },
    Choice { value: "weekly", title: "Every week on the day of its start" },
    Choice { value: "fortnightly", title: "Every 2 weeks on the day of its start" },
    Choice { value: "monthly", title: "Every month on the date of its start" },
    Choice { value: "yearly", title: "Every year on the date of its start" },
    Choice { value: OTHER, title: "By another rule" },
];
const ENDS: [Choice<'static>; 3] = [
    Choice { value: NEVER, title: "Never, or as the other rule says" },
    Choice { value: COUNT, title: "After a number of times" },
    Choice { value: UNTIL, title: "On a date" },
];
/// The maximum length of a rule, in characters.
const RULE: usize = 256;
/// The maximum number of occurrences that a rule may name.
const COUNT_MAX: u32 = 10_000;
/// What is wrong with a choice that the form does not have.
const NO_CHOICE: &str = "must be one of the choices; choose it again";
const DAYS: [(&str, &str); 7] = [
    ("MO", "Monday"),
    ("TU", "Tuesday"),
    ("WE", "Wednesday"),
    ("TH", "Thursday"),
    ("FR", "Friday"),
    ("SA", "Saturday"),
    ("SU", "Sunday"),
];

/// What was typed about the repetition of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RepeatGiven<'a> {
    /// The choice. An empty one counts as no repetition.
    pub choice: &'a str,
    /// Another rule, for the choice of one.
    pub rule: &'a str,
    /// How it ends. An empty choice counts as never.
    pub ends: &'a str,
    /// The number of times after which it ends.
    pub count: &'a str,
    /// The date on which it ends, which is the last one.
    pub until: &'a str,
}

impl<'a> RepeatGiven<'a> {
    /// The rule for the API; `None` if the event does not repeat. A rule that was typed is not checked.
    ///
    /// # Errors
    /// Everything that is wrong, by the names of the form's fields.
    pub fn rule_text(&self) -> Result<Option<String>, FieldErrors> {
        if ["", NEVER].contains(&self.choice) {
            return Ok(None);
        }
        let mut errors = FieldErrors::default();
        let rule = errors.take(self.rule_without_end());
        let end = errors.take(self.end());
        match (rule, end) {
            (Some(rule), Some(end)) => Ok(Some(format!("{rule}{end}"))),
            _ => Err(errors),
        }
    }

    fn rule_without_end(&self) -> Result<&'a str, FieldError> {
        if self.choice == OTHER {
            let missing = || FieldError::new("recurrence_rule", "must be a rule, such as FREQ=WEEKLY;BYDAY=MO,WE");
            return Some(self.rule).filter(|rule| !rule.is_empty()).ok_or_else(missing);
        }
        let simple = SIMPLE.iter().find(|(choice, _)| *choice == self.choice);
        simple.map(|(_, rule)| *rule).ok_or_else(|| FieldError::new("repeats", NO_CHOICE))
    }

    fn end(&self) -> Result<String, FieldError> {
        match self.ends {
            "" | NEVER => Ok(String::new()),
            COUNT => {
                let wrong = || FieldError::new("count", format!("must be a number of times, 1 to {COUNT_MAX}"));
                let count = self.count.parse().ok().filter(|count: &u32| (1..=COUNT_MAX).contains(count));
                count.map(|count| format!(";COUNT={count}")).ok_or_else(wrong)
            }
            UNTIL => {
                let wrong = |_| FieldError::new("until", "must be a date, such as 2026-03-31");
                let date = self.until.parse::<CivilDate>().map_err(wrong)?;
                Ok(format!(";UNTIL={}", date.to_string().replace('-', "")))
            }
            _ => Err(FieldError::new("ends", NO_CHOICE)),
        }
    }

    /// The field beside which a problem of the whole rule is shown.
    pub fn field(&self) -> &'static str {
        match (self.choice, self.ends) {
            (OTHER, _) => "recurrence_rule",
            (_, COUNT) => "count",
            (_, UNTIL) => "until",
            _ => "repeats",
        }
    }

    pub(crate) fn choices(&self, problems: &'a Problems) -> Select<'a> {
        select("repeats", "Repeats", &CHOICES, self.choice, problems)
    }

    pub(crate) fn other(&self, problems: &'a Problems) -> Field<'a> {
        let field = Field::text("recurrence_rule", "Another rule", self.rule, RULE).checked(problems);
        Field { required: false, ..field }
    }

    pub(crate) fn ways_to_end(&self, problems: &'a Problems) -> Select<'a> {
        select("ends", "Ends", &ENDS, self.ends, problems)
    }

    pub(crate) fn times(&self, problems: &'a Problems) -> Field<'a> {
        let field = Field::text("count", "Number of times", self.count, 0).checked(problems);
        Field { kind: "number", max: None, required: false, ..field }
    }

    pub(crate) fn last(&self, problems: &'a Problems) -> Field<'a> {
        let field = Field::text("until", "Last date", self.until, 0).checked(problems);
        Field { kind: "date", max: None, required: false, ..field }
    }
}

fn select<'a>(
    name: &'static str,
    label: &'static str,
    options: &'a [Choice<'a>],
    chosen: &'a str,
    problems: &'a Problems,
) -> Select<'a> {
    Select { name, label, options, chosen, problem: problems.of(name) }
}

/// How an event repeats, as its form shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeat {
    choice: &'static str,
    rule: String,
    ends: &'static str,
    count: String,
    until: String,
}

impl Repeat {
    /// The repetition by that rule; `None` if the event does not repeat. The series follows the clocks of that zone.
    pub fn of(rule: Option<&str>, zone: Zone) -> Self {
        let (rest, count, until) = (String::new(), String::new(), String::new());
        let empty = Self { choice: NEVER, rule: rest, ends: NEVER, count, until };
        let Some(rule) = rule else { return empty };
        match rule.rsplit_once(';').and_then(|(rule, last)| Some((rule, last.split_once('=')?))) {
            Some((rule, ("COUNT", count))) => Self { ends: COUNT, count: count.to_owned(), ..empty }.with(rule),
            // A time is more exact than the form, which shows its date. It stays as long as nothing is typed over.
            Some((before, ("UNTIL", until))) => match last_date(until, zone) {
                Some(date) => Self { ends: UNTIL, until: date.to_string(), ..empty }.with(before),
                None => empty.with(rule),
            },
            _ => empty.with(rule),
        }
    }

    /// The same with that rule, which has no end.
    fn with(self, rule: &str) -> Self {
        match SIMPLE.iter().find(|(_, simple)| *simple == rule) {
            Some((choice, _)) => Self { choice: *choice, ..self },
            None => Self { choice: OTHER, rule: rule.to_owned(), ..self },
        }
    }

    /// What the form contains.
    pub fn given(&self) -> RepeatGiven<'_> {
        let Self { choice, rule, ends, count, until } = self;
        RepeatGiven { choice, rule, ends, count, until }
    }
}

/// The date of the form `YYYYMMDD`.
fn written_date(text: &str) -> Option<CivilDate> {
    let (year, rest) = text.split_at_checked(4)?;
    let (month, day) = rest.split_at_checked(2)?;
    format!("{year}-{month}-{day}").parse().ok()
}

/// The date of the end of a rule: a date, or a time in UTC.
fn last_date(until: &str, zone: Zone) -> Option<CivilDate> {
    written_date(until).or_else(|| written_time(until).map(|at| zone.to_civil(at).date))
}

/// The time of the form `YYYYMMDDTHHMMSSZ`.
fn written_time(text: &str) -> Option<Timestamp> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let (hour, rest) = time.split_at_checked(2)?;
    let (minute, second) = rest.split_at_checked(2)?;
    format!("{}T{hour}:{minute}:{second}Z", written_date(date)?).parse().ok()
}

/// A rule in words, such as `Every week on Monday and Friday, 6 times`. The series starts on that date of its zone.
/// `None` if the rule is not a simple one.
pub(super) fn rule_words(rule: &str, start: CivilDate, zone: Zone) -> Option<String> {
    let (mut frequency, mut interval, mut days, mut end) = ("", 1_u32, None, String::new());
    for part in rule.split(';') {
        match part.split_once('=')? {
            ("FREQ", value) => frequency = value,
            ("INTERVAL", value) => interval = value.parse().ok()?,
            ("BYDAY", value) => days = Some(value),
            ("COUNT", "1") => end = ", once".to_owned(),
            ("COUNT", value) => end = format!(", {value} times"),
            ("UNTIL", value) => end = format!(", until {}", until_words(value, zone)?),
            _ => return None,
        }
    }
    let every = |unit: &str| if interval == 1 { format!("Every {unit}") } else { format!("Every {interval} {unit}s") };
    let (_, _, day) = start.year_month_day();
    let words = match (frequency, days) {
        ("DAILY", None) => every("day"),
        ("WEEKLY", Some(WEEKDAYS)) if interval == 1 => "Every weekday, Monday to Friday".to_owned(),
        ("WEEKLY", None) => {
            let name = DAYS.get(usize::from(start.weekday())).map(|(_, name)| *name)?;
            format!("{} on {name}", every("week"))
        }
        ("WEEKLY", Some(days)) => format!("{} on {}", every("week"), day_names(days)?),
        ("MONTHLY", None) if day > 28 => format!("{} on day {day}, if the month has it", every("month")),
        ("MONTHLY", None) => format!("{} on day {day}", every("month")),
        ("YEARLY", None) => format!("{} on {}", every("year"), short_date(start)),
        _ => return None,
    };
    Some(words + &end)
}

/// The names of days of the week, such as `Monday, Wednesday and Friday`. `None` if one has an ordinal.
fn day_names(days: &str) -> Option<String> {
    let name = |day: &str| DAYS.iter().find(|(written, _)| *written == day).map(|(_, name)| *name);
    let names: Vec<&str> = days.split(',').map(name).collect::<Option<_>>()?;
    let (last, before) = names.split_last()?;
    Some(if before.is_empty() { (*last).to_owned() } else { format!("{} and {last}", before.join(", ")) })
}

/// The end of a rule: a date, or a time in UTC, which is shown on the clock of the zone.
fn until_words(until: &str, zone: Zone) -> Option<String> {
    if let Some(date) = written_date(until) {
        return Some(date_text(date));
    }
    let at = written_time(until)?;
    Some(format!("{}, {}", date_text(zone.to_civil(at).date), clock(at, zone)))
}

#[cfg(test)]
mod tests {
    use kalends_time::testing::config;
    use proptest::{prelude::*, sample::select};
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(None, "never", "", "never", "", "")]
    #[case(Some("FREQ=DAILY"), "daily", "", "never", "", "")]
    #[case(Some("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;COUNT=5"), "weekdays", "", "count", "5", "")]
    #[case(Some("FREQ=WEEKLY;INTERVAL=2;UNTIL=20270331"), "fortnightly", "", "until", "", "2027-03-31")]
    #[case(Some("FREQ=WEEKLY;BYDAY=MO"), "rule", "FREQ=WEEKLY;BYDAY=MO", "never", "", "")]
    #[case(Some("FREQ=MONTHLY;BYDAY=-1FR;COUNT=2"), "rule", "FREQ=MONTHLY;BYDAY=-1FR", "count", "2", "")]
    #[case(Some("FREQ=DAILY;UNTIL=20270331"), "daily", "", "until", "", "2027-03-31")]
    #[case(Some("FREQ=DAILY;UNTIL=soon"), "rule", "FREQ=DAILY;UNTIL=soon", "never", "", "")]
    fn a_form_shows_a_rule_as_a_choice(
        #[case] rule: Option<&str>,
        #[case] choice: &str,
        #[case] other: &str,
        #[case] ends: &str,
        #[case] count: &str,
        #[case] until: &str,
    ) {
        let repeat = Repeat::of(rule, Zone::UTC);
        assert_eq!(repeat.given(), RepeatGiven { choice, rule: other, ends, count, until });
        assert_eq!(repeat.given().rule_text().unwrap().as_deref(), rule);
    }

    #[test]
    fn a_form_shows_the_last_day_of_a_rule_that_ends_at_a_time() {
        let zone = "Asia/Tokyo".parse().unwrap();
        let repeat = Repeat::of(Some("FREQ=WEEKLY;UNTIL=20270331T200000Z"), zone);
        let shown = RepeatGiven { choice: "weekly", rule: "", ends: "until", count: "", until: "2027-04-01" };
        assert_eq!(repeat.given(), shown);
        // Another simple rule keeps the end.
        let daily = RepeatGiven { choice: "daily", ..shown };
        assert_eq!(daily.rule_text().unwrap().as_deref(), Some("FREQ=DAILY;UNTIL=20270401"));
    }

    #[rstest]
    #[case("", "", "", "", "", "")]
    #[case("never", "", "count", "x", "", "")]
    #[case("hourly", "", "never", "", "", "repeats")]
    #[case("rule", "", "soon", "", "", "recurrence_rule ends")]
    #[case("daily", "", "count", "0", "", "count")]
    #[case("daily", "", "count", "10001", "", "count")]
    #[case("hourly", "", "until", "", "20270331", "repeats until")]
    #[case("daily", "", "until", "", "2027-02-30", "until")]
    fn everything_that_is_wrong_is_beside_its_field(
        #[case] choice: &str,
        #[case] rule: &str,
        #[case] ends: &str,
        #[case] count: &str,
        #[case] until: &str,
        #[case] wrong: &str,
    ) {
        let given = RepeatGiven { choice, rule, ends, count, until };
        let found = given.rule_text().err().unwrap_or_default();
        let names: Vec<&str> = found.iter().map(|error| error.param.as_str()).collect();
        assert_eq!(names.join(" "), wrong);
    }

    #[rstest]
    #[case("daily", "never", "repeats")]
    #[case("daily", "count", "count")]
    #[case("daily", "until", "until")]
    #[case("rule", "until", "recurrence_rule")]
    fn a_problem_of_the_rule_is_beside_what_makes_it(#[case] choice: &str, #[case] ends: &str, #[case] field: &str) {
        assert_eq!(RepeatGiven { choice, ends, ..RepeatGiven::default() }.field(), field);
    }

    #[rstest]
    #[case("FREQ=DAILY", "Every day")]
    #[case("FREQ=DAILY;INTERVAL=3;COUNT=1", "Every 3 days, once")]
    #[case("FREQ=WEEKLY", "Every week on Monday")]
    #[case("FREQ=WEEKLY;INTERVAL=2;COUNT=6", "Every 2 weeks on Monday, 6 times")]
    #[case("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "Every weekday, Monday to Friday")]
    #[case("FREQ=WEEKLY;BYDAY=SU", "Every week on Sunday")]
    #[case("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE,FR", "Every 2 weeks on Monday, Wednesday and Friday")]
    #[case("FREQ=MONTHLY;UNTIL=20271231", "Every month on day 29, if the month has it, until 31 Dec 2027")]
    #[case("FREQ=YEARLY;UNTIL=20271231T083000Z", "Every year on 29 Mar, until 31 Dec 2027, 09:30")]
    fn simple_rules_have_words(#[case] rule: &str, #[case] words: &str) {
        let start = "2027-03-29".parse().unwrap();
        assert_eq!(rule_words(rule, start, "Europe/Berlin".parse().unwrap()).as_deref(), Some(words));
    }

    #[rstest]
    #[case("FREQ=MONTHLY;BYDAY=-1FR")]
    #[case("FREQ=WEEKLY;BYDAY=MO;WKST=SU")]
    #[case("FREQ=HOURLY")]
    #[case("FREQ=DAILY;UNTIL=20270331T080000")]
    #[case("FREQ=DAILY;UNTIL=soon")]
    #[case("")]
    fn other_rules_have_none(#[case] rule: &str) {
        assert_eq!(rule_words(rule, "2027-03-29".parse().unwrap(), Zone::UTC), None);
    }

    proptest! {
        #![proptest_config(config(256))]

        /// A form that is sent as it is shown leaves the rule as it is.
        #[test]
        fn a_form_gives_the_rule_that_it_shows(
            rule in select(vec![
                "FREQ=DAILY", "FREQ=WEEKLY", "FREQ=WEEKLY;INTERVAL=2", "FREQ=MONTHLY", "FREQ=YEARLY",
                "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "FREQ=WEEKLY;BYDAY=TU", "FREQ=MONTHLY;BYDAY=2TU",
            ]),
            end in prop_oneof![
                Just(String::new()),
                (1..=COUNT_MAX).prop_map(|count| format!(";COUNT={count}")),
                (1..=12_u32, 1..=28_u32).prop_map(|(month, day)| format!(";UNTIL=2030{month:02}{day:02}")),
            ],
        ) {
            let rule = format!("{rule}{end}");
            prop_assert_eq!(Repeat::of(Some(&rule), Zone::UTC).given().rule_text(), Ok(Some(rule)));
        }
    }
}
