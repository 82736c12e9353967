//! The calendar.

use kalends_time::{Span, Timestamp, Zone};

use super::{done, shell};
use crate::{CalendarInView, CalendarPage, Done, EventInView, EventKind, Place, View, Viewed};

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn span(start: &str, end: &str) -> Span {
    Span::new(at(start), at(end)).unwrap()
}

/// An event of each kind: on one day, over midnight, on whole days, and several at the same time.
fn events(text: &str) -> Vec<EventInView> {
    let event = |kind, is_imported, time: Span| EventInView {
        id: "evt_01jn8r8f4h3gyqz7s9c1b5wnkd_20260303T090000Z".to_owned(),
        title: text.to_owned(),
        calendar: text.to_owned(),
        span: time,
        dates: None,
        kind,
        is_imported,
    };
    let morning = span("2026-03-03T09:00:00Z", "2026-03-03T10:30:00Z");
    let whole = span("2026-03-04T00:00:00Z", "2026-03-06T00:00:00Z");
    vec![
        event(EventKind::Confirmed, false, morning),
        event(EventKind::Tentative, false, morning),
        event(EventKind::Hold(at("2026-03-03T08:12:00Z")), false, morning),
        event(EventKind::Confirmed, true, morning),
        event(EventKind::Tentative, true, span("2026-03-03T22:00:00Z", "2026-03-04T01:00:00Z")),
        EventInView {
            id: String::new(),
            ..event(EventKind::Busy, false, span("2026-03-06T12:00:00Z", "2026-03-06T12:10:00Z"))
        },
        EventInView {
            dates: Some(EventInView::whole_days(whole, Zone::UTC)),
            ..event(EventKind::Confirmed, false, whole)
        },
    ]
}

pub(super) fn pages(text: &str) -> Vec<(&'static str, String)> {
    let shell = &shell(text, Place::Calendar);
    let calendar = |number: u8, is_chosen| CalendarInView {
        id: format!("cal_01jn8r7d2xe9tvn4a6k8m0pqr{number}"),
        name: text.to_owned(),
        is_chosen,
    };
    let calendars = [calendar(1, true), calendar(2, false)];
    let (zone, second) = ("Europe/Berlin".parse().unwrap(), "Asia/Kathmandu".parse().ok());
    let viewed = |view, date: &str| Viewed { view, date: date.parse().unwrap(), zone, second, calendars: Vec::new() };
    let named = |view| Viewed { calendars: vec![calendars[0].id.clone()], ..viewed(view, "2026-03-03") };
    let (week, day, month, list) = (named(View::Week), named(View::Day), named(View::Month), named(View::List));
    let spring = Viewed { second: None, ..viewed(View::Week, "2026-03-29") };
    let skipped = Viewed { zone: "Pacific/Apia".parse().unwrap(), ..viewed(View::Week, "2011-12-30") };
    let (events, overfull) = (events(text), [text.to_owned()]);
    let page = CalendarPage {
        shell,
        done: done(),
        may_create: true,
        viewed: &week,
        calendars: &calendars,
        has_more_calendars: false,
        events: &events,
        is_cut: false,
        overfull: &[],
        now: at("2026-03-03T08:00:00Z"),
    };
    let empty = CalendarPage { done: Done::default(), may_create: false, events: &[], ..page };
    vec![
        ("calendar, week", page.html()),
        ("calendar, day", CalendarPage { viewed: &day, ..page }.html()),
        ("calendar, month", CalendarPage { viewed: &month, ..page }.html()),
        ("calendar, list", CalendarPage { viewed: &list, ..page }.html()),
        (
            "calendar, too much",
            CalendarPage { has_more_calendars: true, is_cut: true, overfull: &overfull, ..page }.html(),
        ),
        ("calendar, clocks change", CalendarPage { viewed: &spring, ..empty }.html()),
        ("calendar, a day is skipped", CalendarPage { viewed: &skipped, ..empty }.html()),
        ("calendar, none", CalendarPage { viewed: &list, calendars: &[], ..empty }.html()),
    ]
}
