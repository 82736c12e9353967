//! The page on which a user draws the busy times of an example calendar. It is in English, like the console, and works
//! without scripts.

use askama::Template;
use kalends_i18n::Translator;
use kalends_time::{CivilDate, CivilTime, Span, Timestamp, Zone};

use crate::{
    calendar::date_in_range,
    english::in_english,
    field::Choice,
    link::with,
    problems::Problems,
    shell::{Done, Shell},
    time::zone_of,
    zones::{Group, choices},
};

/// The days of a week.
const DAYS: i64 = 7;
/// The hours of a day.
const HOURS: u32 = 24;
/// The short names of the days, from Monday on.
const SHORT: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// A week of whole days in a zone, from Monday on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DrawnWeek {
    monday: CivilDate,
    zone: Zone,
}

/// An hour of a week, as the clock shows it. It is longer or shorter if the clock changes in it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Hour {
    /// The value that the form sends, such as `2026-11-30T09`.
    name: String,
    /// The time.
    span: Span,
}

impl DrawnWeek {
    /// The week of that date.
    pub fn of(date: CivilDate, zone: Zone) -> Self {
        Self { monday: date.plus_days(-i64::from(date.weekday())), zone }
    }

    /// The first day.
    pub const fn monday(self) -> CivilDate {
        self.monday
    }

    /// The zone of the days and hours.
    pub const fn zone(self) -> Zone {
        self.zone
    }

    /// The week before or after, which begins that many days later, if pages show it.
    fn moved(self, days: i64) -> Option<Self> {
        date_in_range(self.monday.plus_days(days)).map(|date| Self::of(date, self.zone))
    }

    fn dates(self) -> impl Iterator<Item = CivilDate> {
        (0..DAYS).map(move |day| self.monday.plus_days(day))
    }

    /// The hour of a day; `None` if the clock skips it.
    fn hour(self, date: CivilDate, hour: u32) -> Option<Hour> {
        let begin = CivilTime::new(hour, 0, 0).map(|time| date.at(time))?;
        let after = CivilTime::new(hour + 1, 0, 0).map_or_else(|| date.plus_days(1).midnight(), |time| date.at(time));
        let span = Span::new(self.zone.to_timestamp(begin)?, self.zone.to_timestamp(after)?).ok()?;
        Some(Hour { name: format!("{date}T{hour:02}"), span })
    }

    fn hours(self) -> impl Iterator<Item = Hour> {
        self.dates().flat_map(move |date| (0..HOURS).filter_map(move |hour| self.hour(date, hour)))
    }

    /// The hours that are busy, also in part, as the form sends them.
    pub fn busy_hours(self, busy: &[Span]) -> Vec<String> {
        let is_busy = |hour: &Hour| busy.iter().any(|span| span.overlaps(hour.span));
        self.hours().filter(is_busy).map(|hour| hour.name).collect()
    }

    /// The busy times after a form that showed the hours `was` as busy and was sent with the hours `now`. Only the
    /// hours that the user changed are replaced. So an hour that is busy in part stays as it is, and so do the other
    /// weeks.
    pub fn redrawn(self, busy: &[Span], was: &[&str], now: &[&str]) -> Vec<Span> {
        let mut drawn = busy.to_vec();
        for hour in self.hours() {
            match (was.contains(&hour.name.as_str()), now.contains(&hour.name.as_str())) {
                (false, true) => drawn.push(hour.span),
                (true, false) => drawn = drawn.into_iter().flat_map(|span| without(span, hour.span)).collect(),
                (false, false) | (true, true) => {}
            }
        }
        merged(drawn)
    }

    /// Whether the busy times have an hour that is busy in part only.
    fn has_parts(self, busy: &[Span]) -> bool {
        self.hours().any(|hour| {
            busy.iter().any(|span| span.clip(hour.span).is_some_and(|part| part.length() < hour.span.length()))
        })
    }
}

/// What remains of a time without that hour.
fn without(span: Span, hour: Span) -> impl Iterator<Item = Span> {
    let before = Span::new(span.start(), span.end().min(hour.start()));
    let after = Span::new(span.start().max(hour.end()), span.end());
    [before.ok(), after.ok()].into_iter().flatten()
}

/// The times, sorted, with those joined that overlap or touch.
fn merged(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable_by_key(|span| span.start());
    let mut merged: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.start() <= last.end() => {
                *last = Span::new(last.start(), last.end().max(span.end())).unwrap_or(*last);
            }
            _ => merged.push(span),
        }
    }
    merged
}

/// A week of an example calendar, with the form that draws its busy times.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "drawing.html")]
pub struct DrawingPage<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// What a form did.
    pub done: Done,
    /// The identifier of the connection.
    pub connection: &'a str,
    /// The provider's name, and the account's label.
    pub account: &'a str,
    /// The calendars to choose from.
    pub calendars: &'a [Choice<'a>],
    /// The name of the calendar that is shown.
    pub calendar: &'a str,
    /// The week.
    pub week: DrawnWeek,
    /// The busy times of the calendar.
    pub busy: &'a [Span],
    /// The hours that are checked: those that are busy, or those of a form that had no effect.
    pub checked: &'a [String],
    /// The hours that were checked before anything was changed.
    pub was: &'a [String],
    /// The present.
    pub now: Timestamp,
    /// What is wrong with the form.
    pub problems: &'a Problems,
}

/// A day in the head of the table.
struct Day {
    name: String,
    short: &'static str,
    number: u32,
}

/// An hour of all days.
struct Row {
    clock: String,
    /// The days; `None` where the clock skips the hour.
    cells: Vec<Option<Cell>>,
}

/// An hour of a day.
struct Cell {
    name: String,
    label: String,
    is_checked: bool,
}

impl DrawingPage<'_> {
    /// The page with that week of the calendar.
    fn href(&self, week: DrawnWeek) -> String {
        let path = format!("/console/connections/{}/drawing", self.connection);
        let (monday, zone) = (week.monday(), week.zone().name());
        with(&path, &[("week", &monday), ("calendar", &self.calendar), ("tz", &zone)])
    }

    fn before(&self) -> Option<String> {
        self.week.moved(-DAYS).map(|week| self.href(week))
    }

    fn after(&self) -> Option<String> {
        self.week.moved(DAYS).map(|week| self.href(week))
    }

    fn this_week(&self) -> String {
        let zone = self.week.zone();
        self.href(DrawnWeek::of(zone.to_civil(self.now).date, zone))
    }

    /// The days, such as `30 November – 6 December 2026`.
    fn label(&self) -> String {
        let words = Translator::english();
        let monday = self.week.monday();
        format!("{} – {}", words.day(monday), words.date(monday.plus_days(DAYS - 1)))
    }

    /// The zone, with its offset if that is the same in the whole week.
    fn zone(&self) -> String {
        zone_of(self.week.zone(), self.week.hours().map(|hour| hour.span.start()))
    }

    fn zone_name(&self) -> &'static str {
        self.week.zone().name()
    }

    fn groups(&self) -> Vec<Group> {
        choices(self.week.zone(), self.week.zone(), self.now)
    }

    fn days(&self) -> Vec<Day> {
        let words = Translator::english();
        let day = |(date, short): (CivilDate, &'static str)| {
            let (.., number) = date.year_month_day();
            Day { name: words.day(date), short, number }
        };
        self.week.dates().zip(SHORT).map(day).collect()
    }

    fn rows(&self) -> Vec<Row> {
        let words = Translator::english();
        let days: Vec<_> = self.week.dates().map(|date| (date, words.day(date))).collect();
        let row = |hour: u32| {
            let clock = format!("{hour:02}:00");
            let cell = |(date, day): &(CivilDate, String)| {
                let name = self.week.hour(*date, hour)?.name;
                let is_checked = self.checked.contains(&name);
                Some(Cell { label: format!("{day}, {clock}"), is_checked, name })
            };
            let cells = days.iter().map(cell).collect();
            Row { clock, cells }
        };
        (0..HOURS).map(row).collect()
    }

    fn has_parts(&self) -> bool {
        self.week.has_parts(self.busy)
    }
}

in_english!(DrawingPage<'_>);

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn week(date: &str, zone: &str) -> DrawnWeek {
        DrawnWeek::of(date.parse().unwrap(), zone.parse().unwrap())
    }

    fn span(start: &str, end: &str) -> Span {
        Span::new(start.parse().unwrap(), end.parse().unwrap()).unwrap()
    }

    #[rstest]
    #[case::usual("2026-12-02", "Europe/Berlin", 168)]
    #[case::an_hour_is_skipped("2026-03-29", "Europe/Berlin", 167)]
    #[case::an_hour_is_shown_twice("2026-10-25", "Europe/Berlin", 168)]
    #[case::half_an_hour_is_skipped("2026-10-04", "Australia/Lord_Howe", 168)]
    fn the_hours_of_a_week_follow_each_other(#[case] date: &str, #[case] zone: &str, #[case] count: usize) {
        let week = week(date, zone);
        assert_eq!(week.monday().weekday(), 0);
        let hours: Vec<_> = week.hours().collect();
        assert_eq!(hours.len(), count);
        assert!(hours.iter().zip(hours.iter().skip(1)).all(|(one, next)| one.span.end() == next.span.start()));
        let whole = span("2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z");
        assert_eq!(week.busy_hours(&[whole]).len(), count);
    }

    #[test]
    fn only_changed_hours_are_replaced() {
        let week = week("2026-11-30", "Europe/Berlin");
        let earlier = span("2026-11-20T09:00:00Z", "2026-11-20T10:00:00Z");
        let part = span("2026-11-30T08:15:00Z", "2026-11-30T08:45:00Z");
        let long = span("2026-12-01T08:30:00Z", "2026-12-01T11:00:00Z");
        let busy = [earlier, part, long];
        let was = week.busy_hours(&busy);
        assert_eq!(was, ["2026-11-30T09", "2026-12-01T09", "2026-12-01T10", "2026-12-01T11"]);
        let was: Vec<_> = was.iter().map(String::as_str).collect();
        assert_eq!(week.redrawn(&busy, &was, &was), busy);
        // One hour in the middle becomes free, and one after the part becomes busy.
        let now = ["2026-11-30T09", "2026-11-30T10", "2026-12-01T09", "2026-12-01T11"];
        let expected = [
            earlier,
            part,
            span("2026-11-30T09:00:00Z", "2026-11-30T10:00:00Z"),
            span("2026-12-01T08:30:00Z", "2026-12-01T09:00:00Z"),
            span("2026-12-01T10:00:00Z", "2026-12-01T11:00:00Z"),
        ];
        assert_eq!(week.redrawn(&busy, &was, &now), expected);
        // What another form drew in the meantime stays.
        assert_eq!(week.redrawn(&busy, &[], &[]), busy);
        assert_eq!(week.redrawn(&busy, &was, &[]), [earlier]);
        // Hours of other weeks, and texts that are no hours, have no effect.
        assert_eq!(week.redrawn(&busy, &[], &["2026-12-07T09", "<b>"]), busy);
    }

    #[test]
    fn neighbouring_hours_become_one_time() {
        let week = week("2026-11-30", "UTC");
        let drawn = week.redrawn(&[], &[], &["2026-11-30T10", "2026-11-30T09", "2026-11-30T12"]);
        let joined = span("2026-11-30T09:00:00Z", "2026-11-30T11:00:00Z");
        assert_eq!(drawn, [joined, span("2026-11-30T12:00:00Z", "2026-11-30T13:00:00Z")]);
    }

    #[rstest]
    #[case("2026-11-30T09:00:00Z", "2026-11-30T11:00:00Z", false)]
    #[case("2026-11-30T09:00:00Z", "2026-11-30T11:30:00Z", true)]
    #[case("2026-12-07T09:00:00Z", "2026-12-07T09:30:00Z", false)]
    fn hours_that_are_busy_in_part_are_found(#[case] start: &str, #[case] end: &str, #[case] has: bool) {
        assert_eq!(week("2026-11-30", "UTC").has_parts(&[span(start, end)]), has);
    }
}
