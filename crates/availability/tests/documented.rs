//! The worked examples of `docs/use/availability.md`.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking, in their helpers too")]

use kalends_availability::{
    AvailabilityState, Block, BlockKind, BusySet, CalendarTime, HumanBusy, HumanSource, HumanTime, Rules, SlotQuery,
    explain, nearest_free,
};
use kalends_kernel::Revision;
use kalends_time::{SignedDuration, Span, Timestamp};

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

/// Rules with buffers, a zone, the hours of Monday to Friday, and overrides.
fn rules(before: u8, after: u8, zone: &str, hours: Option<(&str, &str)>, overrides: &str) -> Rules {
    let week = hours.map_or("null".to_owned(), |(start, end)| {
        let day = |day| format!(r#""{day}":{{"start":"{start}","end":"{end}"}}"#);
        format!("{{{}}}", ["mon", "tue", "wed", "thu", "fri"].map(day).join(","))
    });
    let document = format!(
        r#"{{"buffer_before_minutes":{before},"buffer_after_minutes":{after},"timezone":"{zone}",
            "working_hours":{week},"overrides":[{overrides}]}}"#
    );
    serde_json::from_str(&document).unwrap()
}

fn berlin() -> Rules {
    let overrides = r#"{"date":"2026-03-05","working_hours":null},
        {"date":"2026-03-07","working_hours":{"start":"10:00","end":"12:00"}}"#;
    rules(10, 30, "Europe/Berlin", Some(("09:00", "17:00")), overrides)
}

#[test]
fn buffers() {
    let buffers = rules(10, 30, "UTC", None, "");
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
    let ours = rules(0, 15, "UTC", Some(("09:00", "17:00")), "").apply(&set(&["10:00-11:00"]), day);
    let theirs = rules(0, 0, "UTC", Some(("08:00", "12:00")), "").apply(&set(&["11:30-11:45"]), day);
    assert_eq!(ours.union(&theirs).complement(day), set(&["09:00-10:00", "11:15-11:30", "11:45-12:00"]));
}

#[test]
fn human_busy_times() {
    let range = span("08:00-18:00");
    let now = range.start();
    let read = |ago, busy: &str| HumanBusy {
        source: HumanSource(1),
        revision: Revision(1),
        read_at: Some(now - SignedDuration::minutes(ago)),
        covers: range,
        spans: set(&[busy]),
    };
    let sources = [read(5, "09:00-10:00"), read(120, "11:00-12:00"), read(1_800, "13:00-14:00")];
    let strict = HumanTime::of(&sources, range, now, false);
    assert_eq!((strict.state, strict.blocked), (AvailabilityState::Partial, range.into()));
    let lenient = HumanTime::of(&sources, range, now, true);
    assert_eq!((lenient.state, lenient.blocked), (AvailabilityState::Partial, set(&["09:00-10:00", "11:00-12:00"])));
}

#[test]
fn slots() {
    let taken = set(&["11:00-11:05"]);
    let query = SlotQuery::new(span("09:00-12:20"), "1h".parse().unwrap()).unwrap();
    assert_eq!(starts(query.slots(&taken)), ["09:00", "10:00"]);
    let stepping = query.stepping("15m".parse().unwrap());
    assert_eq!(starts(stepping.slots(&taken)), ["09:00", "09:15", "09:30", "09:45", "10:00", "11:15"]);
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
    let event = Block { kind: BlockKind::Event, span: span("09:00-10:00") };
    let calendar = "cal_00000000000000000000000001".parse().unwrap();
    let time = CalendarTime { calendar, rules: &rules, blocks: &[event] };
    let reasons_for = |text| {
        let reasons = explain(&[time], span(text), span("02T00:00-09T00:00"));
        reasons.iter().map(|reason| (reason.kind.to_string(), reason.span)).collect::<Vec<_>>()
    };
    let reason = |kind: &str, text| (kind.to_owned(), span(text));
    assert_eq!(reasons_for("09:45-10:45"), [reason("event", "09:00-10:00"), reason("buffer", "10:00-10:30")]);
    assert_eq!(
        reasons_for("05T15:30-05T16:30"),
        [reason("override", "05T15:30-05T16:00"), reason("outside_working_hours", "05T16:00-05T16:30")]
    );
}
