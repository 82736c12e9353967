//! Writes a feed as JSON together with the times of its events, for `cargo xtask interop`.
//!
//! The JSON is `{"feed": "...", "zone": "...", "from": ..., "to": ..., "events": {"<title>": [[start, end], ...]}}`,
//! with the times that overlap the window, in seconds since 1970. `zone` is that of the calendar and of whole days.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program for tests, which fails this way")]

use std::collections::BTreeMap;

use kalends_calendars::{
    AgentActivity, Attendees, Calendar, ConferenceUrl, Conflicts, Event, EventPatch, EventStatus, Moment, NewCalendar,
    NewEvent, NewRecurrence, Patch, exdates,
};
use kalends_feeds::write::FeedWriter;
use kalends_kernel::Metadata;
use kalends_time::{Span, Timestamp, Zone};

/// A title, the times, and a rule with its zone and its exdates.
type Plan<'a> = (&'a str, &'a str, &'a str, Option<(&'a str, Option<&'a str>, &'a [&'a str])>);

const PLANS: &[Plan<'_>] = &[
    ("One-off", "2026-03-02T09:00:00Z", "2026-03-02T10:15:00Z", None),
    ("Off; all day, \\ and \"more\"", "2026-03-28", "2026-03-31", None),
    ("Daily in UTC", "2026-03-01T22:30:00Z", "2026-03-02T01:00:00Z", Some(("FREQ=DAILY;COUNT=400", None, &[]))),
    (
        "Berlin over daylight saving",
        "2026-03-02T08:00:00Z",
        "2026-03-02T08:45:00Z",
        Some(("FREQ=WEEKLY;BYDAY=MO,WE", Some("Europe/Berlin"), &["2026-03-09T08:00:00Z", "2026-03-30T07:00:00Z"])),
    ),
    (
        "New York, last Friday",
        "2026-01-30T22:00:00Z",
        "2026-01-30T23:30:00Z",
        Some(("FREQ=MONTHLY;BYDAY=-1FR;UNTIL=20271231", Some("America/New_York"), &["2026-11-27T22:00:00Z"])),
    ),
    (
        "Casablanca, by Ramadan",
        "2026-01-05T10:00:00Z",
        "2026-01-05T11:00:00Z",
        Some(("FREQ=DAILY;INTERVAL=2;COUNT=500", Some("Africa/Casablanca"), &[])),
    ),
    (
        "Kolkata, every other month",
        "2026-01-31T03:30:00Z",
        "2026-01-31T04:00:00Z",
        Some(("FREQ=MONTHLY;INTERVAL=2;BYMONTHDAY=-1", Some("Asia/Kolkata"), &[])),
    ),
    (
        "Santiago, third weekday",
        "2026-01-06T12:00:00Z",
        "2026-01-06T13:00:00Z",
        Some(("FREQ=MONTHLY;BYDAY=TU;BYSETPOS=1;COUNT=18", Some("America/Santiago"), &[])),
    ),
    (
        "Whole weekends",
        "2026-03-07",
        "2026-03-09",
        Some(("FREQ=WEEKLY;INTERVAL=2;UNTIL=20260901", None, &["2026-03-21"])),
    ),
    ("Founding day", "2024-02-28", "2024-02-29", Some(("FREQ=YEARLY", None, &[]))),
];

fn calendar() -> Calendar {
    let new = NewCalendar {
        name: "Interop, with; everything".into(),
        zone: "Europe/Berlin".parse().unwrap(),
        activity: AgentActivity::Idle,
        default_reminders: None,
        conflicts: Conflicts::Allow,
        recurrence_default: None,
        metadata: Metadata::default(),
    };
    let (org, id) = ("org_00000000000000000000000001".parse().unwrap(), "cal_00000000000000000000000001".parse());
    Calendar::create(id.unwrap(), org, None, new, "token".into(), at("2026-01-01T00:00:00Z"))
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn made(calendar: &Calendar, number: usize, (title, start, end, repeats): Plan<'_>) -> Event {
    let moment = |text| Moment::parse("start_time", text).unwrap();
    let new = NewEvent {
        title: title.to_owned(),
        description: Some(format!("{title}\n{}", "日本語 and, so; on ".repeat(20))),
        location: Some("Room 2; \"Große Freiheit\", floor 3".to_owned()),
        conference_url: Some(ConferenceUrl::parse("", "https://meet.example.com/standup?a=1,2;b=3").unwrap()),
        attendees: Attendees::default(),
        start: moment(start),
        end: moment(end),
        all_day: start.len() == 10,
        status: EventStatus::Confirmed,
        metadata: Metadata::default(),
        reminders: None,
        recurrence: repeats.map(|(rule, zone, cancelled)| NewRecurrence {
            rule: rule.parse().unwrap(),
            exdates: exdates(cancelled, |param, text| Moment::parse(param, text)).unwrap(),
            zone: zone.map(|zone| zone.parse().unwrap()),
        }),
        hold: None,
        if_free: false,
        if_as_of: None,
        send_invitations: false,
    };
    let id = format!("evt_000000000000000000000000{number:02}").parse().unwrap();
    Event::create(id, calendar, new, at("2026-01-02T03:04:05Z")).unwrap()
}

/// Moves one occurrence of the series and gives it a title of its own.
fn moved(series: &Event, number: usize, start: &str, to: (&str, &str)) -> (Event, Event) {
    let patch = EventPatch {
        title: Patch::Set(format!("{}, moved", series.title)),
        start: Patch::Set(Moment::At(at(to.0))),
        end: Patch::Set(Moment::At(at(to.1))),
        ..EventPatch::default()
    };
    let instance = series.instance(at(start)).unwrap();
    let id = format!("evt_000000000000000000000000{number:02}").parse().unwrap();
    series.with_occurrence_patched(&instance, id, patch, Zone::UTC, at("2026-01-03T00:00:00Z")).unwrap()
}

fn main() {
    let calendar = calendar();
    let mut events: Vec<Event> = PLANS.iter().zip(1..).map(|(plan, number)| made(&calendar, number, *plan)).collect();
    for (index, number, start, to) in [
        (2, 81, "2026-03-05T22:30:00Z", ("2026-03-05T12:00:00Z", "2026-03-05T12:30:00Z")),
        (3, 82, "2026-04-01T07:00:00Z", ("2026-04-02T15:00:00Z", "2026-04-02T16:00:00Z")),
    ] {
        let (series, changed) = moved(&events[index], number, start, to);
        events[index] = series;
        events.push(changed);
    }
    let window = Span::new(at("2026-01-01T00:00:00Z"), at("2027-07-01T00:00:00Z")).unwrap();
    let mut writer = FeedWriter::new(&calendar);
    let mut expected: BTreeMap<&str, Vec<[i64; 2]>> = BTreeMap::new();
    for event in &events {
        writer.event(event.clone());
        let spans: Vec<Span> = match event.repeating() {
            Some(repeating) => repeating.occurrences(window).collect(),
            None => vec![event.times.span],
        };
        let seconds = |span: &Span| [span.start().as_unix_seconds(), span.end().as_unix_seconds()];
        expected.insert(&event.title, spans.iter().map(seconds).collect());
    }
    let [from, to] = [window.start().as_unix_seconds(), window.end().as_unix_seconds()];
    let (feed, zone) = (writer.end(), calendar.zone.name());
    println!("{}", serde_json::json!({ "feed": feed, "zone": zone, "from": from, "to": to, "events": expected }));
}
