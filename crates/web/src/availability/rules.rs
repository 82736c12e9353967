//! The rules of a calendar, and the forms that change them.

use askama::Template;
use kalends_i18n::Translator;
use kalends_time::{CivilDate, Timestamp, Zone};

use super::{
    hours::{OpenHours, WEEK, Week, WeekDay, week_text},
    week::WeekPicture,
};
use crate::{
    english::in_english,
    field::{Choice, Field, Select},
    numbers::grouped,
    paging::Paging,
    problems::Problems,
    shell::{Done, Shell},
    zones::ZoneField,
};

/// The fields of the form of the buffers and the working hours, as the API names them.
pub const RULES_FIELDS: [&str; 11] = [
    "buffer_before_minutes",
    "buffer_after_minutes",
    "working_hours",
    "timezone",
    "mon",
    "tue",
    "wed",
    "thu",
    "fri",
    "sat",
    "sun",
];
/// The fields of the form of a date.
pub const DATE_FIELDS: [&str; 2] = ["date", "hours"];
/// The number of dates on one page of the list.
pub const DATES_SHOWN: u32 = 50;
/// The maximum length of hours, in characters.
const HOURS: usize = 40;

/// Whether hours restrict what is offered.
const RESTRICTED: [Choice<'static>; 2] =
    [Choice { value: "any", title: "At any time" }, Choice { value: "hours", title: "Only in the hours below" }];

/// The rules of a calendar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RulesShown {
    /// The minutes that stay free before an event.
    pub before: i64,
    /// The minutes that stay free after an event.
    pub after: i64,
    /// The hours of each day from Monday, `None` for a day that is closed; `None` if weekdays restrict nothing.
    pub week: Option<[Option<OpenHours>; 7]>,
    /// The zone of the hours and dates.
    pub zone: Zone,
    /// The dates with hours of their own, in order.
    pub dates: Vec<DateShown>,
}

/// A date with hours of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DateShown {
    /// The date, in the zone of the rules.
    pub date: CivilDate,
    /// Its hours; `None` if it is closed.
    pub hours: Option<OpenHours>,
}

impl DateShown {
    /// The date, such as `Thursday, 5 March 2026`.
    fn text(&self) -> String {
        Translator::english().date(self.date)
    }

    fn hours_text(&self) -> String {
        written(self.hours)
    }
}

/// The hours of a day as a table shows them.
fn written(hours: Option<OpenHours>) -> String {
    hours.map_or_else(|| "Closed".to_owned(), |hours| hours.to_string())
}

impl RulesShown {
    /// The rules in one sentence; `None` is a calendar without rules.
    pub(crate) fn sentence_of(rules: Option<&Self>) -> String {
        const UNRESTRICTED: &str = "No working hours: every time that is free is offered.";
        let Some(rules) = rules else { return UNRESTRICTED.to_owned() };
        let buffers = rules.buffers();
        if rules.week.is_none() && buffers.is_none() && rules.dates.is_empty() {
            return UNRESTRICTED.to_owned();
        }
        let week = rules.week.as_ref().map_or_else(|| "No working hours on weekdays".to_owned(), week_text);
        let mut parts = vec![week];
        parts.extend(buffers);
        match rules.dates.len() {
            0 => {}
            1 => parts.push("1 date with other hours".to_owned()),
            dates => parts.push(format!("{dates} dates with other hours")),
        }
        parts.join("; ") + "."
    }

    /// The buffers, if there are any.
    fn buffers(&self) -> Option<String> {
        let minutes = |count: i64| if count == 1 { "1 minute".to_owned() } else { format!("{count} minutes") };
        match (self.before, self.after) {
            (0, 0) => None,
            (before, 0) => Some(format!("{} free before events", minutes(before))),
            (0, after) => Some(format!("{} free after events", minutes(after))),
            (before, after) if before == after => Some(format!("{} free before and after events", minutes(before))),
            (before, after) => Some(format!("{} free before and {} after events", minutes(before), minutes(after))),
        }
    }

    /// The dates as the page lists them: those to come first, then those that are over, the last one first.
    fn dates_from(&self, today: CivilDate) -> impl Iterator<Item = &DateShown> {
        let over = self.dates.partition_point(|shown| shown.date < today);
        let (over, to_come) = self.dates.split_at(over);
        to_come.iter().chain(over.iter().rev())
    }
}

/// What is typed into the form of the buffers and the working hours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RulesGiven<'a> {
    /// The minutes before an event.
    pub before: &'a str,
    /// The minutes after an event.
    pub after: &'a str,
    /// Whether hours restrict what is offered: `hours`, or `any` if they do not.
    pub restricted: &'a str,
    /// The zone.
    pub zone: &'a str,
    /// The hours of each day from Monday: [`hours_text`](super::hours_text).
    pub days: [&'a str; 7],
}

/// What is typed into the form of a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DateGiven<'a> {
    /// The date.
    pub date: &'a str,
    /// Its hours, or `closed`.
    pub hours: &'a str,
}

/// The rules of a calendar, with their forms.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "availability_rules.html")]
pub struct RulesPage<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// What a form did.
    pub done: Done,
    /// Whether the user may change the rules.
    pub may_change: bool,
    /// The identifier of the calendar.
    pub calendar: &'a str,
    /// The name of the calendar.
    pub name: &'a str,
    /// Its rules, if it has any.
    pub rules: Option<&'a RulesShown>,
    /// The zone of the hours and dates: that of the rules, or that of the calendar.
    pub zone: Zone,
    /// When the page is shown.
    pub now: Timestamp,
    /// The random key of the form of the working hours.
    pub once: &'a str,
    /// The version that this form changes.
    pub version: &'a str,
    /// The random key of the form of a date.
    pub date_once: &'a str,
    /// The version that this form changes.
    pub date_version: &'a str,
    /// The version of the rules that the page shows.
    pub current: &'a str,
    /// What the form of the working hours contains: the rules, or what was typed.
    pub given: RulesGiven<'a>,
    /// What this form contained before anything was typed.
    pub was: RulesGiven<'a>,
    /// What the form of a date contains.
    pub date: DateGiven<'a>,
    /// What is wrong with one of them.
    pub problems: &'a Problems,
    /// Where in the list of dates the page is.
    pub paging: &'a Paging,
}

impl<'a> RulesPage<'a> {
    fn sentence(&self) -> String {
        RulesShown::sentence_of(self.rules)
    }

    fn week(&self) -> Option<&'a Week> {
        self.rules.and_then(|rules| rules.week.as_ref())
    }

    fn picture(&self) -> WeekPicture<'a> {
        WeekPicture { week: self.week() }
    }

    /// The days of the week with their hours, as text.
    fn days(&self) -> Vec<(&'static str, String)> {
        let hours = |at: usize| match self.week() {
            Some(week) => written(week.get(at).copied().flatten()),
            None => "Any time".to_owned(),
        };
        WEEK.iter().enumerate().map(|(at, day)| (day.name, hours(at))).collect()
    }

    /// Whether no time of any weekday is offered.
    fn is_closed(&self) -> bool {
        self.week().is_some_and(|week| week.iter().all(Option::is_none))
    }

    /// The dates on this page of the list.
    fn dates(&self) -> Vec<&'a DateShown> {
        let Some(rules) = self.rules else { return Vec::new() };
        let [skipped, shown] = [self.paging.page.offset, self.paging.page.limit].map(|number| {
            // A number of entries of a list in memory.
            usize::try_from(number).unwrap_or(usize::MAX)
        });
        rules.dates_from(self.today()).skip(skipped).take(shown).collect()
    }

    fn today(&self) -> CivilDate {
        self.zone.to_civil(self.now).date
    }

    /// Whether the date is over.
    fn is_over(&self, shown: &DateShown) -> bool {
        shown.date < self.today()
    }

    fn before(&self) -> Field<'a> {
        self.minutes("buffer_before_minutes", "Minutes free before an event", self.given.before)
    }

    fn after(&self) -> Field<'a> {
        self.minutes("buffer_after_minutes", "Minutes free after an event", self.given.after)
    }

    fn minutes(&self, name: &'static str, label: &'static str, value: &'a str) -> Field<'a> {
        Field { kind: "number", max: None, ..Field::text(name, label, value, 0) }.checked(self.problems)
    }

    fn restricted(&self) -> Select<'a> {
        let (name, label) = ("working_hours", "When time is offered");
        let problem = self.problems.of(name);
        Select { name, label, options: &RESTRICTED, chosen: self.given.restricted, problem }
    }

    fn zone_field(&self) -> ZoneField<'a> {
        ZoneField::new(Some(self.given.zone), self.now, self.problems.of("timezone"))
    }

    /// The fields of the days of the week.
    fn day_fields(&self) -> Vec<Field<'a>> {
        let field = |(day, text): (&WeekDay, &'a str)| Field {
            required: false,
            ..Field::text(day.field, day.name, text, HOURS).checked(self.problems)
        };
        WEEK.iter().zip(self.given.days).map(field).collect()
    }

    /// What the fields contained before anything was typed, by their names.
    fn before_typing(&self) -> Vec<(&'static str, &'a str)> {
        let RulesGiven { before, after, restricted, zone, days } = self.was;
        let first = [
            ("buffer_before_minutes", before),
            ("buffer_after_minutes", after),
            ("working_hours", restricted),
            ("timezone", zone),
        ];
        first.into_iter().chain(WEEK.iter().map(|day| day.field).zip(days)).collect()
    }

    fn date_field(&self) -> Field<'a> {
        let field = Field::text("date", "Date", self.date.date, 0);
        Field { kind: "date", max: None, ..field }.checked(self.problems)
    }

    fn hours_field(&self) -> Field<'a> {
        Field::text("hours", "Hours, or closed", self.date.hours, HOURS).checked(self.problems)
    }
}

/// The question whether to remove the rules of a calendar.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "remove_rules.html")]
pub struct RemoveRules<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The identifier of the calendar.
    pub calendar: &'a str,
    /// The name of the calendar.
    pub name: &'a str,
    /// Its rules.
    pub rules: &'a RulesShown,
    /// Their version.
    pub version: &'a str,
    /// Why the question is asked again.
    pub problem: Option<&'a str>,
}

impl RemoveRules<'_> {
    fn sentence(&self) -> String {
        RulesShown::sentence_of(Some(self.rules))
    }

    fn dates(&self) -> String {
        grouped(u64::try_from(self.rules.dates.len()).unwrap_or(u64::MAX))
    }
}

in_english!(RulesPage<'_>, RemoveRules<'_>);

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn day(date: &str) -> DateShown {
        DateShown { date: date.parse().unwrap(), hours: None }
    }

    fn rules(before: i64, after: i64, week: Option<Week>, dates: &[&str]) -> RulesShown {
        RulesShown { before, after, week, zone: Zone::UTC, dates: dates.iter().map(|date| day(date)).collect() }
    }

    fn weekdays() -> Option<Week> {
        let open = OpenHours::new(540, 1_020);
        Some([open, open, open, open, open, None, None])
    }

    #[rstest]
    #[case(rules(0, 0, None, &[]), "No working hours: every time that is free is offered.")]
    #[case(rules(15, 0, weekdays(), &[]), "Mon–Fri 09:00–17:00; 15 minutes free before events.")]
    #[case(rules(0, 1, None, &[]), "No working hours on weekdays; 1 minute free after events.")]
    #[case(rules(0, 0, None, &["2026-12-24"]), "No working hours on weekdays; 1 date with other hours.")]
    #[case(
        rules(10, 10, weekdays(), &["2026-12-24"]),
        "Mon–Fri 09:00–17:00; 10 minutes free before and after events; 1 date with other hours."
    )]
    #[case(
        rules(5, 30, Some([None; 7]), &["2026-12-24", "2026-12-25"]),
        "Closed on every weekday; 5 minutes free before and 30 minutes after events; 2 dates with other hours."
    )]
    fn rules_are_one_sentence(#[case] rules: RulesShown, #[case] sentence: &str) {
        assert_eq!(RulesShown::sentence_of(Some(&rules)), sentence);
    }

    #[test]
    fn a_calendar_without_rules_offers_every_time() {
        assert_eq!(RulesShown::sentence_of(None), "No working hours: every time that is free is offered.");
    }

    #[test]
    fn dates_to_come_are_first() {
        let rules = rules(0, 0, None, &["2026-01-01", "2026-03-01", "2026-03-02", "2026-12-24"]);
        let listed = |today: &str| -> Vec<String> {
            rules.dates_from(today.parse().unwrap()).map(|shown| shown.date.to_string()).collect()
        };
        assert_eq!(listed("2026-03-02"), ["2026-03-02", "2026-12-24", "2026-03-01", "2026-01-01"]);
        assert_eq!(listed("2027-01-01"), ["2026-12-24", "2026-03-02", "2026-03-01", "2026-01-01"]);
    }
}
