//! The calendar.

use kalends_time::{Span, Timestamp, Zone};

use super::{done, problems, shell};
use crate::{
    Answer, AttendeeShown, CalendarInView, CalendarPage, CancelEvent, Choice, Done, EVENT_FIELDS, EditEventForm,
    EventDetail, EventGiven, EventInView, EventKind, EventPage, ExplainPage, MoveEvent, NO_PROBLEMS, NewEventForm,
    Obstacle, Place, RepeatGiven, SeriesPart, View, Viewed, WhyNot,
};

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
        version: 3,
        series_version: (kind == EventKind::Tentative).then_some(4),
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
    [views(text), of_events(text), explained(text)].concat()
}

fn views(text: &str) -> Vec<(&'static str, String)> {
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
        may_change: true,
        viewed: &week,
        calendars: &calendars,
        has_more_calendars: false,
        events: &events,
        is_cut: false,
        overfull: &[],
        is_out_of_date: false,
        now: at("2026-03-03T08:00:00Z"),
    };
    let empty = CalendarPage { done: Done::default(), may_create: false, may_change: false, events: &[], ..page };
    // More events of a day than have a place among its hours, or in a list.
    let many = vec![events[0].clone(); 60];
    vec![
        ("calendar, week", page.html()),
        ("calendar, day", CalendarPage { viewed: &day, ..page }.html()),
        ("calendar, month", CalendarPage { viewed: &month, ..page }.html()),
        ("calendar, list", CalendarPage { viewed: &list, ..page }.html()),
        ("calendar, list of many", CalendarPage { viewed: &list, events: &many, ..page }.html()),
        ("calendar, day of many", CalendarPage { viewed: &day, events: &many, ..page }.html()),
        (
            "calendar, seen by a viewer",
            CalendarPage { may_create: false, may_change: false, done: Done::default(), ..page }.html(),
        ),
        (
            "calendar, too much",
            CalendarPage { has_more_calendars: true, is_cut: true, overfull: &overfull, is_out_of_date: true, ..page }
                .html(),
        ),
        ("calendar, clocks change", CalendarPage { viewed: &spring, ..empty }.html()),
        ("calendar, a day is skipped", CalendarPage { viewed: &skipped, ..empty }.html()),
        ("calendar, none", CalendarPage { viewed: &list, calendars: &[], ..empty }.html()),
    ]
}

fn of_events(text: &str) -> Vec<(&'static str, String)> {
    let shell = &shell(text, Place::Calendar);
    let now = at("2026-03-03T08:00:00Z");
    let series = "evt_01jn8r8f4h3gyqz7s9c1b5wnkd".to_owned();
    let attendee = |name: Option<&str>, is_optional| AttendeeShown {
        name: name.map(str::to_owned),
        email: text.to_owned(),
        is_optional,
        agent: None,
        reply: "accepted",
    };
    let once = EventDetail {
        id: series.clone(),
        title: text.to_owned(),
        calendar_id: "cal_01jn8r7d2xe9tvn4a6k8m0pqr1".to_owned(),
        calendar: text.to_owned(),
        agent: text.to_owned(),
        span: span("2026-03-03T09:00:00Z", "2026-03-03T10:30:00Z"),
        dates: None,
        zone: "Etc/GMT+3".parse().unwrap(),
        calendar_zone: Zone::UTC,
        kind: Some(EventKind::Confirmed),
        is_imported: false,
        description: text.to_owned(),
        location: text.to_owned(),
        call: text.to_owned(),
        attendees: vec![attendee(Some(text), true), attendee(None, false)],
        reminders: Some(vec![60, 10]),
        series: SeriesPart::Once,
        version: 3,
        series_version: 4,
        cals: vec![text.to_owned()],
    };
    let occurrence = EventDetail {
        id: format!("{series}_20260303T090000Z"),
        series: SeriesPart::Occurrence {
            series,
            rule: "FREQ=WEEKLY;COUNT=3".to_owned(),
            zone: Zone::UTC,
            is_first: false,
            rest: "FREQ=WEEKLY;COUNT=2".to_owned(),
        },
        kind: Some(EventKind::Tentative),
        ..once.clone()
    };
    let hold = EventDetail { kind: Some(EventKind::Hold(at("2026-03-03T08:12:00Z"))), ..once.clone() };
    let whole = EventDetail {
        dates: Some(EventInView::whole_days(once.span, Zone::UTC)),
        series: SeriesPart::Series("FREQ=DAILY;COUNT=3".to_owned(), Zone::UTC),
        agent: String::new(),
        attendees: Vec::new(),
        reminders: None,
        ..once.clone()
    };
    let monthly = EventDetail {
        series: SeriesPart::Series("FREQ=MONTHLY;BYDAY=-1FR".to_owned(), Zone::UTC),
        reminders: Some(Vec::new()),
        ..once.clone()
    };
    let imported = EventDetail { is_imported: true, ..once.clone() };
    let gone = EventDetail { kind: None, ..once.clone() };
    let given = EventGiven {
        calendar: "cal_01jn8r7d2xe9tvn4a6k8m0pqr2",
        title: text,
        start: text,
        end: text,
        start_at: text,
        end_at: text,
        all_day: true,
        status: "tentative",
        hold_minutes: text,
        location: text,
        call: text,
        description: text,
        attendees: text,
        sends: true,
        reminders: text,
        repeats: RepeatGiven { choice: "rule", rule: text, ends: "count", count: text, until: text },
        conflicts: "refuse",
        scope: "following",
    };
    let wrong = &problems(&EVENT_FIELDS, text);
    let page = EventPage {
        shell,
        done: done(),
        once: "once",
        may_change: true,
        may_move: true,
        may_end_holds: true,
        event: &once,
        back: "/console/calendar?view=week",
        now,
    };
    let viewed = EventPage { done: Done::default(), may_change: false, may_move: false, may_end_holds: false, ..page };
    let edit = EditEventForm {
        shell,
        once: "once",
        event: &occurrence,
        version: text,
        series_version: text,
        given,
        was: given,
        is_stale: false,
        now,
        problems: wrong,
    };
    let cancel = CancelEvent { shell, once: "once", event: &occurrence, sends: true, scope: "", problems: wrong };
    let calendars = choices(text);
    let new = NewEventForm {
        shell,
        once: "once",
        calendars: &calendars,
        zone: Zone::UTC,
        longest_hold: Some(15),
        given,
        cals: &[text],
        back: "/console/calendar?view=week",
        problems: wrong,
    };
    let moves = MoveEvent {
        shell,
        once: "once",
        event: &once,
        version: text,
        calendars: &calendars,
        has_more: true,
        given,
        problems: wrong,
    };
    vec![
        ("event", page.html()),
        ("event, seen by a viewer", viewed.html()),
        ("event, occurrence", EventPage { event: &occurrence, ..page }.html()),
        ("event, hold", EventPage { event: &hold, ..page }.html()),
        ("event, hold, no holds in the plan", EventPage { event: &hold, may_end_holds: false, ..page }.html()),
        ("event, series of whole days", EventPage { event: &whole, ..page }.html()),
        ("event, series by another rule", EventPage { event: &monthly, ..page }.html()),
        ("event, imported", EventPage { event: &imported, ..page }.html()),
        ("event, cancelled", EventPage { event: &gone, ..page }.html()),
        ("new event, wrong", new.html()),
        ("new event, no holds in the plan", NewEventForm { longest_hold: None, problems: &NO_PROBLEMS, ..new }.html()),
        ("new event, no calendars", NewEventForm { calendars: &[], problems: &NO_PROBLEMS, ..new }.html()),
        ("edit event, wrong", edit.html()),
        ("edit event, stale", EditEventForm { event: &once, is_stale: true, ..edit }.html()),
        ("edit event, stale occurrence", EditEventForm { is_stale: true, ..edit }.html()),
        ("edit event, hold", EditEventForm { event: &hold, problems: &NO_PROBLEMS, ..edit }.html()),
        ("edit event, whole days", EditEventForm { event: &whole, problems: &NO_PROBLEMS, ..edit }.html()),
        ("edit event, series", EditEventForm { event: &monthly, problems: &NO_PROBLEMS, ..edit }.html()),
        ("move event, wrong", moves.html()),
        ("move series", MoveEvent { event: &whole, has_more: false, problems: &NO_PROBLEMS, ..moves }.html()),
        ("move hold", MoveEvent { event: &hold, problems: &NO_PROBLEMS, ..moves }.html()),
        ("move event, no other calendar", MoveEvent { calendars: &[], problems: &NO_PROBLEMS, ..moves }.html()),
        ("cancel event, wrong", cancel.html()),
        ("cancel event", CancelEvent { event: &once, sends: false, problems: &NO_PROBLEMS, ..cancel }.html()),
        ("cancel series", CancelEvent { event: &whole, problems: &NO_PROBLEMS, ..cancel }.html()),
    ]
}

fn choices(text: &str) -> [Choice<'_>; 2] {
    let choice = |value| Choice { value, title: text };
    [choice("cal_01jn8r7d2xe9tvn4a6k8m0pqr1"), choice("cal_01jn8r7d2xe9tvn4a6k8m0pqr2")]
}

fn explained(text: &str) -> Vec<(&'static str, String)> {
    let shell = &shell(text, Place::Calendar);
    let time = span("2026-03-03T09:00:00Z", "2026-03-03T10:30:00Z");
    let all = [
        Obstacle::Event,
        Obstacle::Hold,
        Obstacle::Imported,
        Obstacle::Busy,
        Obstacle::Reserved,
        Obstacle::Buffer,
        Obstacle::ClosedHours,
        Obstacle::ClosedDate,
        Obstacle::OutOfRange,
    ];
    let reasons = all.map(|obstacle| WhyNot { obstacle, span: time }).into();
    let taken = Answer { span: time, is_offered: false, reasons, has_more: true, warnings: vec![text.to_owned()] };
    let free = Answer { is_offered: true, reasons: Vec::new(), has_more: false, warnings: Vec::new(), ..taken.clone() };
    let calendars = choices(text);
    let given = EventGiven { start: text, end: text, ..EventGiven::default() };
    let asks = ExplainPage {
        shell,
        calendars: &calendars,
        zone: Zone::UTC,
        given,
        shown: &[text],
        back: "/console/calendar?view=week",
        problems: &NO_PROBLEMS,
        answer: None,
    };
    vec![
        ("explain", asks.html()),
        ("explain, taken", ExplainPage { answer: Some(&taken), ..asks }.html()),
        ("explain, free", ExplainPage { answer: Some(&free), ..asks }.html()),
        ("explain, wrong", ExplainPage { problems: &problems(&EVENT_FIELDS, text), ..asks }.html()),
        ("explain, no calendars", ExplainPage { calendars: &[], ..asks }.html()),
    ]
}
