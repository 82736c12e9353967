//! The worked examples of `docs/use/availability.md`.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking, in their helpers too")]

use kalends_availability::{
    Block, BusySet, CalendarTime, CivilDate, CivilTime, Hours, Override, ReasonKind, Rules, SignedDuration, Span,
    Timestamp, Week, explain, free_slots, nearest_free,
};

/// Reads `09:00-10:00` as a span on Monday, 2 March 2026, in UTC, or with days: `05T09:00-05T10:00`.
fn span(text: &str) -> Span {
    let instant = |text: &str| {
        let (day, time) = text.split_once('T').unwrap_or(("02", text));
        format!("2026-03-{day}T{time}:00Z").parse::<Timestamp>().unwrap()
    };
    let (start, end) = text.split_once('-').unwrap();
    Span::new(instant(start), instant(end)).unwrap()
}

fn set(spans: &[&str]) -> BusySet {
    spans.iter().map(|text| span(text)).collect()
}

fn starts(spans: impl IntoIterator<Item = Span>) -> Vec<String> {
    spans.into_iter().map(|span| span.start().to_string()[11..16].to_owned()).collect()
}

/// Rules with buffers in minutes, a zone, and the hours of Monday to Friday.
fn rules(before: i64, after: i64, zone: &str, week: Option<Hours>) -> Rules {
    let minutes = SignedDuration::minutes;
    let rules = Rules::new(zone.parse().unwrap()).with_buffers(minutes(before), minutes(after)).unwrap();
    match week {
        Some(hours) => rules.with_working_hours(Week::monday_to_friday(hours)),
        None => rules,
    }
}

/// The hours between two full hours.
fn hours(start: u32, end: u32) -> Option<Hours> {
    let clock = |hour| CivilTime::new(hour, 0, 0).unwrap();
    Hours::between(clock(start), clock(end)).ok()
}

fn berlin() -> Rules {
    let date = |day| CivilDate::new(2026, 3, day).unwrap();
    rules(10, 30, "Europe/Berlin", hours(9, 17))
        .with_overrides([Override { date: date(5), hours: None }, Override { date: date(7), hours: hours(10, 12) }])
}

#[test]
fn buffers() {
    let buffers = rules(10, 30, "UTC", None);
    assert_eq!(buffers.apply(&set(&["09:00-10:00"]), span("06:00-12:00")), set(&["08:50-10:30"]));
    assert_eq!(buffers.apply(&set(&["08:00-09:00"]), span("09:00-12:00")), set(&["09:00-09:30"]));
}

#[test]
fn working_hours_and_overrides() {
    let week = span("02T00:00-09T00:00");
    let days =
        ["02T08:00-02T16:00", "03T08:00-03T16:00", "04T08:00-04T16:00", "06T08:00-06T16:00", "07T09:00-07T11:00"];
    assert_eq!(berlin().outside(week).complement(week), set(&days));
}

#[test]
fn several_calendars() {
    let day = span("02T00:00-03T00:00");
    let ours = rules(0, 15, "UTC", hours(9, 17)).apply(&set(&["10:00-11:00"]), day);
    let theirs = rules(0, 0, "UTC", hours(8, 12)).apply(&set(&["11:30-11:45"]), day);
    assert_eq!(ours.union(&theirs).complement(day), set(&["09:00-10:00", "11:15-11:30", "11:45-12:00"]));
}

#[test]
fn slots() {
    let taken = set(&["11:00-11:05"]);
    let (window, hour) = (span("09:00-12:20"), SignedDuration::hours(1));
    assert_eq!(starts(free_slots(window, &taken, hour, hour)), ["09:00", "10:00"]);
    let stepping = free_slots(window, &taken, hour, SignedDuration::minutes(15));
    assert_eq!(starts(stepping), ["09:00", "09:15", "09:30", "09:45", "10:00", "11:15"]);
}

#[test]
fn nearest_free_times() {
    let taken = set(&["10:00-10:40", "11:30-13:00"]);
    let found = nearest_free(&taken, span("10:00-10:30"), span("08:00-18:00"), SignedDuration::minutes(15), 3);
    assert_eq!(starts(found), ["09:30", "09:15", "10:45"]);
}

#[test]
fn reasons() {
    let rules = berlin();
    let event = Block { kind: "event", span: span("09:00-10:00") };
    let time = CalendarTime { calendar: "Ada", rules: &rules, blocks: &[event] };
    let reasons_for = |text| {
        let reasons = explain(&[time], span(text), span("02T00:00-09T00:00"));
        reasons.iter().map(|reason| (reason.kind, reason.span)).collect::<Vec<_>>()
    };
    assert_eq!(
        reasons_for("09:45-10:45"),
        [(ReasonKind::Block("event"), span("09:00-10:00")), (ReasonKind::Buffer, span("10:00-10:30"))]
    );
    assert_eq!(
        reasons_for("05T15:30-05T16:30"),
        [
            (ReasonKind::Override, span("05T15:30-05T16:00")),
            (ReasonKind::OutsideWorkingHours, span("05T16:00-05T16:30")),
        ]
    );
}
