//! The events of one day of the calendar.

use kalends_i18n::Translator;
use kalends_time::{CivilDate, Span, Timestamp, Zone};

use super::{
    days::{Day, Hour, Part, clock},
    event::EventInView,
    layout::arrange,
    range::{View, Viewed},
    style::{COLUMNS_MAX, classes},
};
use crate::link::with;

/// The largest number of events side by side on a day of a week.
const COLUMNS_OF_WEEK: usize = 3;
/// The events of a day that a month shows.
const ENTRIES_OF_MONTH: usize = 3;
/// The events that a week or a day shows above the hours of a day.
const STRIP_MAX: usize = 20;

/// An event on a day.
pub(crate) struct Entry {
    /// The classes of its place; empty in a list.
    pub place: String,
    /// The classes of its look.
    pub class: &'static str,
    /// The address of its page.
    pub href: Option<String>,
    /// The day, for screen readers.
    pub day: String,
    /// When it takes place on that day.
    pub clock: String,
    /// The same, in the second zone.
    pub second: Option<String>,
    pub title: String,
    pub calendar: String,
    pub state: String,
    /// Whether everybody sees the state, and not only screen readers.
    pub is_marked: bool,
}

/// A day.
pub(crate) struct DaySeen {
    pub date: CivilDate,
    /// The heading.
    pub name: String,
    /// The address of the view of the day.
    pub href: String,
    pub is_today: bool,
    /// Whether it only completes a week of the month.
    pub is_outside: bool,
    /// What is unusual about the day.
    pub note: Option<String>,
    /// The hours beside the day, unless they are those of the day before.
    pub axis: Vec<Hour>,
    /// The number of rows.
    pub rows: usize,
    /// The events that take the whole day. In a list or a month: all events.
    pub strip: Vec<Entry>,
    /// The events in rows.
    pub timed: Vec<Entry>,
    /// The number of events that are not shown.
    pub more: usize,
    /// The address at which they are.
    pub more_href: String,
}

impl DaySeen {
    pub(crate) fn is_empty(&self) -> bool {
        self.strip.is_empty() && self.timed.is_empty() && self.more == 0
    }
}

/// What all days of a page have in common.
pub(crate) struct Days<'a> {
    pub viewed: &'a Viewed,
    /// In the order in which a list shows them.
    pub events: Vec<&'a EventInView>,
    pub now: Timestamp,
}

impl Days<'_> {
    /// The days, in order.
    pub(crate) fn seen(&self) -> Vec<DaySeen> {
        let mut days: Vec<DaySeen> = self.viewed.dates().map(|date| self.day(date)).collect();
        let mut before: Vec<Hour> = Vec::new();
        for day in &mut days {
            if day.axis == before {
                day.axis.clear();
            } else {
                before.clone_from(&day.axis);
            }
        }
        days
    }

    fn day(&self, date: CivilDate) -> DaySeen {
        let Viewed { view, zone, second, .. } = *self.viewed;
        let words = Translator::english();
        let name = if view == View::Day { words.date(date) } else { words.day(date) };
        let mut seen = DaySeen {
            date,
            name,
            href: self.viewed.href(View::Day, date),
            is_today: zone.to_civil(self.now).date == date,
            is_outside: !self.viewed.has(date),
            note: None,
            axis: Vec::new(),
            rows: 0,
            strip: Vec::new(),
            timed: Vec::new(),
            more: 0,
            more_href: String::new(),
        };
        let Some(day) = Day::of(date, zone) else {
            seen.note = Some(format!("The clocks of {zone} skip this day"));
            return seen;
        };
        seen.note = day.change();
        seen.rows = day.rows();
        let mut parts = self.events.iter().filter_map(|event| Some((*event, part(event, &day)?)));
        match view {
            View::Week | View::Day => {
                seen.axis = day.hours(zone, second);
                self.place(&day, parts.collect(), &mut seen);
            }
            View::List => seen.strip = parts.map(|(event, _)| self.entry(event, &day, String::new())).collect(),
            View::Month => {
                let first = parts.by_ref().take(ENTRIES_OF_MONTH);
                seen.strip = first.map(|(event, _)| self.entry(event, &day, String::new())).collect();
                seen.more = parts.count();
                seen.more_href.clone_from(&seen.href);
            }
        }
        seen
    }

    /// Places the events on the grid of hours.
    fn place(&self, day: &Day, parts: Vec<(&EventInView, Part)>, seen: &mut DaySeen) {
        let (mut timed, mut rows) = (Vec::new(), Vec::new());
        for (event, part) in parts {
            match part {
                Part::Whole if seen.strip.len() < STRIP_MAX => {
                    seen.strip.push(self.entry(event, day, String::new()));
                }
                Part::Whole => seen.more += 1,
                Part::Rows(range) => {
                    timed.push(event);
                    rows.push(range);
                }
            }
        }
        let (most, elsewhere) = match self.viewed.view {
            View::Day => (COLUMNS_MAX, View::List),
            _ => (COLUMNS_OF_WEEK, View::Day),
        };
        let arranged = arrange(&rows, most);
        let placed = arranged.places.iter().filter_map(|place| Some((*timed.get(place.index)?, classes(place))));
        seen.timed = placed.map(|(event, place)| self.entry(event, day, place)).collect();
        seen.more += arranged.hidden.len();
        seen.more_href = self.viewed.href(elsewhere, seen.date);
    }

    fn entry(&self, event: &EventInView, day: &Day, place: String) -> Entry {
        let Viewed { zone, second, .. } = *self.viewed;
        let state = event.state(self.now);
        let is_marked = !["Confirmed", "Busy"].contains(&state.as_str());
        Entry {
            place,
            class: event.class(),
            href: (!event.id.is_empty())
                .then(|| with(&format!("/console/calendar/events/{}", event.id), &[("tz", &zone.name())])),
            day: Translator::english().day(day.date),
            clock: clocks(event, day.span, zone),
            second: second.filter(|_| event.dates.is_none()).map(|second| {
                let (from, to) = (clock(event.span.start(), second), clock(event.span.end(), second));
                format!("{from}–{to} in {}", second.name().replace('_', " "))
            }),
            title: event.title().to_owned(),
            calendar: event.calendar.clone(),
            state,
            is_marked,
        }
    }
}

/// The part of an event on a day. Whole days are those of the event's calendar, whatever zone is shown.
fn part(event: &EventInView, day: &Day) -> Option<Part> {
    match event.dates {
        Some((first, last)) => (first <= day.date && day.date <= last).then_some(Part::Whole),
        None => day.part(event.span),
    }
}

/// When an event takes place on a day.
fn clocks(event: &EventInView, day: Span, zone: Zone) -> String {
    if event.dates.is_some() {
        return "All day".to_owned();
    }
    let (start, end) = (event.span.start(), event.span.end());
    match (start >= day.start(), end <= day.end()) {
        (true, true) => format!("{}–{}", clock(start, zone), clock(end, zone)),
        (true, false) => format!("From {}", clock(start, zone)),
        (false, true) => format!("Until {}", clock(end, zone)),
        (false, false) => "All day".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::calendar::event::EventKind;

    fn event(id: &str, start: &str, end: &str) -> EventInView {
        EventInView {
            id: id.to_owned(),
            title: id.to_owned(),
            calendar: "Work".to_owned(),
            span: Span::new(start.parse().unwrap(), end.parse().unwrap()).unwrap(),
            dates: None,
            kind: EventKind::Confirmed,
            is_imported: false,
        }
    }

    fn seen(view: View, date: &str, zone: &str, events: &[EventInView]) -> Vec<DaySeen> {
        let viewed =
            Viewed { view, date: date.parse().unwrap(), zone: zone.parse().unwrap(), second: None, calendars: vec![] };
        let now = "2026-03-04T12:00:00Z".parse().unwrap();
        Days { viewed: &viewed, events: events.iter().collect(), now }.seen()
    }

    /// The events of each day, with the times that it shows.
    fn shown(days: &[DaySeen]) -> Vec<String> {
        let lines = days.iter().flat_map(|day| {
            let entries = day.strip.iter().chain(&day.timed);
            entries.map(|entry| format!("{} {} {}", &day.date.to_string()[8..], entry.title, entry.clock))
        });
        lines.collect()
    }

    #[test]
    fn an_event_over_midnight_is_on_both_days() {
        let events = [
            event("night", "2026-03-02T22:00:00Z", "2026-03-03T01:30:00Z"),
            event("long", "2026-03-05T12:00:00Z", "2026-03-07T12:00:00Z"),
        ];
        let expected = [
            "02 night From 22:00",
            "03 night Until 01:30",
            "05 long From 12:00",
            "06 long All day",
            "07 long Until 12:00",
        ];
        for view in [View::Week, View::List] {
            assert_eq!(shown(&seen(view, "2026-03-02", "UTC", &events)), expected);
        }
    }

    #[test]
    fn whole_days_keep_their_dates_in_every_zone() {
        let dates = Some(("2026-03-03".parse().unwrap(), "2026-03-04".parse().unwrap()));
        let events = [EventInView { dates, ..event("fair", "2026-03-02T23:00:00Z", "2026-03-04T23:00:00Z") }];
        for zone in ["Europe/Berlin", "Pacific/Auckland", "Pacific/Honolulu"] {
            let days = seen(View::Week, "2026-03-02", zone, &events);
            assert_eq!(shown(&days), ["03 fair All day", "04 fair All day"]);
            assert!(days.iter().all(|day| day.timed.is_empty()));
        }
    }

    /// The axis is shown again beside a day whose hours differ from those of the day before.
    #[rstest]
    #[case::usual("2026-03-02", &[48, 0, 0, 0, 0, 0, 0])]
    #[case::clocks_change_on_sunday("2026-03-23", &[48, 0, 0, 0, 0, 0, 46])]
    fn a_day_with_other_hours_has_an_axis_of_its_own(#[case] date: &str, #[case] rows: &[usize]) {
        let days = seen(View::Week, date, "Europe/Berlin", &[]);
        let axes: Vec<usize> = days.iter().map(|day| day.axis.len() * 2).collect();
        assert_eq!(axes, rows);
    }

    #[test]
    fn a_month_shows_the_first_events_of_a_day() {
        let hours = ["08", "09", "10", "11", "12"];
        let events: Vec<EventInView> = hours
            .iter()
            .map(|hour| event(hour, &format!("2026-03-04T{hour}:00:00Z"), &format!("2026-03-04T{hour}:30:00Z")))
            .collect();
        let days = seen(View::Month, "2026-03-10", "UTC", &events);
        let full = days.iter().find(|day| !day.is_empty()).unwrap();
        assert_eq!((full.strip.len(), full.more, full.is_today), (3, 2, true));
        assert!(full.more_href.contains("view=day&date=2026-03-04"), "{}", full.more_href);
        assert_eq!((days.len(), days.iter().filter(|day| day.is_outside).count()), (42, 11));
    }

    #[test]
    fn only_some_events_are_above_the_hours() {
        let dates = Some(("2026-03-04".parse().unwrap(), "2026-03-04".parse().unwrap()));
        let whole = EventInView { dates, ..event("fair", "2026-03-04T00:00:00Z", "2026-03-05T00:00:00Z") };
        let events = vec![whole; 25];
        let week = seen(View::Week, "2026-03-04", "UTC", &events);
        assert_eq!((week[2].strip.len(), week[2].more), (20, 5));
        assert!(week[2].more_href.contains("view=day&date=2026-03-04"));
        let day = seen(View::Day, "2026-03-04", "UTC", &events);
        assert_eq!((day[0].strip.len(), day[0].more), (20, 5));
        assert!(day[0].more_href.contains("view=list&date=2026-03-04"));
        assert_eq!(seen(View::List, "2026-03-04", "UTC", &events)[2].strip.len(), 25);
    }

    #[test]
    fn events_without_a_column_are_counted() {
        let same: Vec<EventInView> =
            (0..5).map(|_| event("x", "2026-03-04T08:00:00Z", "2026-03-04T09:00:00Z")).collect();
        let week = seen(View::Week, "2026-03-04", "UTC", &same);
        assert_eq!((week[2].timed.len(), week[2].more), (3, 2));
        assert!(week[2].more_href.contains("view=day&date=2026-03-04"));
        let day = seen(View::Day, "2026-03-04", "UTC", &same);
        assert_eq!((day[0].timed.len(), day[0].more), (5, 0));
    }
}
