//! The days that the calendar shows.

use std::fmt::Display;

use kalends_i18n::Translator;
use kalends_kernel::EARLIEST_TIME;
use kalends_time::{CivilDate, Span, Timestamp, Zone};

use super::event::EventInView;
use crate::{link::with, shell::Place};

/// The address of the form that creates an event.
const NEW_EVENT: &str = "/console/calendar/new";

/// A way to show events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// A week from Monday on, as a grid of hours.
    Week,
    /// The same week, as a list.
    List,
    /// A day, as a grid of hours.
    Day,
    /// A month, with the first events of each day.
    Month,
}

impl View {
    /// Every view, in the order of the page.
    pub const ALL: [Self; 4] = [Self::Week, Self::List, Self::Day, Self::Month];

    /// The name in addresses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Week => "week",
            Self::List => "list",
            Self::Day => "day",
            Self::Month => "month",
        }
    }

    /// The view with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|view| view.as_str() == name)
    }

    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Week => "Week",
            Self::List => "List",
            Self::Day => "Day",
            Self::Month => "Month",
        }
    }
}

/// What the calendar shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Viewed {
    /// How it is shown.
    pub view: View,
    /// One of the days, as [`date_in_range`] allows.
    pub date: CivilDate,
    /// The zone of the days and times.
    pub zone: Zone,
    /// A zone whose hours are shown too.
    pub second: Option<Zone>,
    /// The identifiers of the calendars that the address names. Empty if the first ones are shown.
    pub calendars: Vec<String>,
}

/// The date, if it is from 1970 to 2099, the years of events.
pub fn date_in_range(date: CivilDate) -> Option<CivilDate> {
    let (year, ..) = date.year_month_day();
    (1970..=2099).contains(&year).then_some(date)
}

/// The first day of the month of the date.
pub(crate) fn first_of_month(date: CivilDate) -> CivilDate {
    let (_, _, day) = date.year_month_day();
    date.plus_days(1 - i64::from(day))
}

fn monday(date: CivilDate) -> CivilDate {
    date.plus_days(-i64::from(date.weekday()))
}

impl Viewed {
    /// The first day that is shown, and the first day after.
    fn bounds(&self) -> (CivilDate, CivilDate) {
        match self.view {
            View::Day => (self.date, self.date.plus_days(1)),
            View::Week | View::List => (monday(self.date), monday(self.date).plus_days(7)),
            View::Month => {
                let first = first_of_month(self.date);
                let last = first_of_month(first.plus_days(31)).plus_days(-1);
                (monday(first), monday(last).plus_days(7))
            }
        }
    }

    /// The days that are shown. A month is shown in whole weeks.
    pub(crate) fn dates(&self) -> impl Iterator<Item = CivilDate> {
        let (first, after) = self.bounds();
        (first.as_days()..after.as_days()).map(CivilDate::from_days)
    }

    /// The time of these days in a zone, as far as there can be events; `None` if there can be none.
    pub fn span(&self, zone: Zone) -> Option<Span> {
        let (first, after) = self.bounds();
        let begin = |date: CivilDate| zone.to_timestamp(date.midnight());
        let span = Span::new(begin(first)?, begin(after)?).ok()?;
        span.clip(Span::new(EARLIEST_TIME, Timestamp::HORIZON).ok()?)
    }

    /// Whether an event is on one of these days.
    pub fn shows(&self, event: &EventInView) -> bool {
        let (first, after) = self.bounds();
        match event.dates {
            Some((from, to)) => from < after && first <= to,
            None => self.span(self.zone).is_some_and(|span| span.overlaps(event.span)),
        }
    }

    /// The name of the days.
    pub(crate) fn label(&self) -> String {
        let words = Translator::english();
        match self.view {
            View::Day => words.date(self.date),
            View::Week | View::List => {
                let (first, after) = self.bounds();
                format!("{} – {}", words.day(first), words.date(after.plus_days(-1)))
            }
            View::Month => words.month(self.date),
        }
    }

    /// Whether a day belongs to what was asked for: a month is shown with the rest of its first and last week.
    pub(crate) fn has(&self, date: CivilDate) -> bool {
        self.view != View::Month || first_of_month(date) == first_of_month(self.date)
    }

    /// The address of the days before.
    pub(crate) fn previous(&self) -> Option<String> {
        self.at(match self.view {
            View::Day => self.date.plus_days(-1),
            View::Week | View::List => self.date.plus_days(-7),
            View::Month => first_of_month(first_of_month(self.date).plus_days(-1)),
        })
    }

    /// The address of the days after.
    pub(crate) fn next(&self) -> Option<String> {
        self.at(match self.view {
            View::Day => self.date.plus_days(1),
            View::Week | View::List => self.date.plus_days(7),
            View::Month => first_of_month(first_of_month(self.date).plus_days(31)),
        })
    }

    fn at(&self, date: CivilDate) -> Option<String> {
        date_in_range(date).map(|date| self.href(self.view, date))
    }

    /// The address of the same calendars in a view of that day.
    pub fn href(&self, view: View, date: CivilDate) -> String {
        let (view, zone, second) = (view.as_str(), self.zone.name(), self.second.map(Zone::name));
        let always: [(&str, &dyn Display); 3] = [("view", &view), ("date", &date), ("tz", &zone)];
        let mut parameters = always.to_vec();
        parameters.extend(second.as_ref().map(|second| ("tz2", second as &dyn Display)));
        parameters.extend(self.cals());
        with(Place::Calendar.path(), &parameters)
    }

    /// The calendars as parameters of an address.
    pub(crate) fn cals(&self) -> impl Iterator<Item = (&str, &dyn Display)> {
        self.calendars.iter().map(|calendar| ("cal", calendar as &dyn Display))
    }

    /// The address of the form of a new event at that time. It names the same calendars. Without one, the form suggests
    /// the first.
    pub(crate) fn new_event(&self, time: &[(&str, &dyn Display)]) -> String {
        let zone = self.zone.name();
        let mut parameters: Vec<(&str, &dyn Display)> = self.cals().collect();
        parameters.push(("tz", &zone));
        parameters.extend_from_slice(time);
        with(NEW_EVENT, &parameters)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::calendar::event::EventKind;

    fn viewed(view: View, date: &str) -> Viewed {
        let (zone, second) = ("Europe/Berlin".parse().unwrap(), "Asia/Tokyo".parse().ok());
        Viewed { view, date: date.parse().unwrap(), zone, second, calendars: vec!["cal_1".to_owned()] }
    }

    #[rstest]
    #[case(View::Day, "2026-03-05", "2026-03-05", "2026-03-05", Some("2026-03-04"), Some("2026-03-06"))]
    #[case(View::Week, "2026-03-05", "2026-03-02", "2026-03-08", Some("2026-02-26"), Some("2026-03-12"))]
    #[case(View::List, "2026-03-02", "2026-03-02", "2026-03-08", Some("2026-02-23"), Some("2026-03-09"))]
    #[case(View::Month, "2026-03-31", "2026-02-23", "2026-04-05", Some("2026-02-01"), Some("2026-04-01"))]
    #[case(View::Month, "2026-02-28", "2026-01-26", "2026-03-01", Some("2026-01-01"), Some("2026-03-01"))]
    #[case(View::Month, "2027-02-01", "2027-02-01", "2027-02-28", Some("2027-01-01"), Some("2027-03-01"))]
    #[case(View::Day, "1970-01-01", "1970-01-01", "1970-01-01", None, Some("1970-01-02"))]
    #[case(View::Month, "2099-12-24", "2099-11-30", "2100-01-03", Some("2099-11-01"), None)]
    fn views_have_their_days(
        #[case] view: View,
        #[case] date: &str,
        #[case] first: &str,
        #[case] last: &str,
        #[case] previous: Option<&str>,
        #[case] next: Option<&str>,
    ) {
        let viewed = viewed(view, date);
        let dates: Vec<String> = viewed.dates().map(|date| date.to_string()).collect();
        assert_eq!((dates.first().map(String::as_str), dates.last().map(String::as_str)), (Some(first), Some(last)));
        let href = |date: &str| {
            format!("/console/calendar?view={}&date={date}&tz=Europe/Berlin&tz2=Asia/Tokyo&cal=cal_1", view.as_str())
        };
        assert_eq!((viewed.previous(), viewed.next()), (previous.map(href), next.map(href)));
    }

    #[test]
    fn views_are_found_by_their_names() {
        assert!(View::ALL.into_iter().all(|view| View::from_name(view.as_str()) == Some(view)));
        assert_eq!(View::from_name("year"), None);
    }

    #[rstest]
    #[case::on_it("2026-03-05T22:00:00Z", "2026-03-05T23:00:00Z", None, true)]
    #[case::over_midnight("2026-03-04T22:00:00Z", "2026-03-05T00:00:00Z", None, true)]
    #[case::the_day_before("2026-03-04T22:00:00Z", "2026-03-04T23:00:00Z", None, false)]
    #[case::the_day_after("2026-03-05T23:00:00Z", "2026-03-06T01:00:00Z", None, false)]
    #[case::its_date("2026-03-05T00:00:00Z", "2026-03-06T00:00:00Z", Some("2026-03-05"), true)]
    #[case::another_date("2026-03-05T20:00:00Z", "2026-03-06T20:00:00Z", Some("2026-03-06"), false)]
    fn events_are_on_their_days(
        #[case] start: &str,
        #[case] end: &str,
        #[case] date: Option<&str>,
        #[case] is_shown: bool,
    ) {
        let event = EventInView {
            id: String::new(),
            title: String::new(),
            calendar: String::new(),
            span: Span::new(start.parse().unwrap(), end.parse().unwrap()).unwrap(),
            dates: date.map(|date| (date.parse().unwrap(), date.parse().unwrap())),
            kind: EventKind::Confirmed,
            is_imported: false,
            version: 1,
            series_version: None,
        };
        assert_eq!(viewed(View::Day, "2026-03-05").shows(&event), is_shown);
    }

    #[test]
    fn the_span_follows_the_zone_and_the_years_of_events() {
        let span = |view, date, zone: &str| {
            let span = viewed(view, date).span(zone.parse().unwrap());
            span.map(|span| format!("{} {}", span.start(), span.end()))
        };
        let spring = Some("2026-03-28T23:00:00Z 2026-03-29T22:00:00Z".to_owned());
        assert_eq!(span(View::Day, "2026-03-29", "Europe/Berlin"), spring);
        let first = Some("1970-01-01T00:00:00Z 1970-01-01T15:00:00Z".to_owned());
        assert_eq!(span(View::Day, "1970-01-01", "Asia/Tokyo"), first);
        assert_eq!(span(View::Day, "2011-12-30", "Pacific/Apia"), None, "the zone skips the day");
    }
}
