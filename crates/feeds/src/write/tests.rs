//! The text of single events.

use kalends_calendars::{
    AgentActivity, Attendees, ConferenceUrl, Conflicts, EventPatch, EventStatus, Moment, NewCalendar, NewEvent,
    NewRecurrence, Patch, Reminders, Repeats, exdates,
};
use kalends_kernel::{CalendarId, Metadata, OrgId};
use kalends_time::{Timestamp, Zone};
use rstest::rstest;

use super::*;

pub(super) fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

pub(super) fn calendar(name: &str, zone: &str) -> Calendar {
    let new = NewCalendar {
        name: name.into(),
        zone: zone.parse().unwrap(),
        activity: AgentActivity::Idle,
        default_reminders: Some(Reminders::default()),
        conflicts: Conflicts::Allow,
        recurrence_default: None,
        metadata: Metadata::default(),
    };
    let org: OrgId = "org_00000000000000000000000001".parse().unwrap();
    let id: CalendarId = "cal_00000000000000000000000001".parse().unwrap();
    Calendar::create(id, org, None, new, "token".into(), at("2026-01-01T00:00:00Z"))
}

pub(super) fn id(number: u8) -> EventId {
    format!("evt_000000000000000000000000{number:02}").parse().unwrap()
}

/// An event on a calendar. `repeats` is a rule with its zone and its exdates.
pub(super) fn event(
    number: u8,
    calendar: &Calendar,
    (start, end): (&str, &str),
    repeats: Option<(&str, Option<&str>, &[&str])>,
) -> Event {
    let moment = |text: &str| Moment::parse("start_time", text).unwrap();
    let new = NewEvent {
        title: "Standup".into(),
        description: None,
        location: None,
        conference_url: None,
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
    Event::create(id(number), calendar, new, at("2026-01-02T03:04:05.6Z")).unwrap()
}

pub(super) fn written(calendar: &Calendar, events: impl IntoIterator<Item = Event>) -> String {
    let mut writer = FeedWriter::new(calendar);
    events.into_iter().for_each(|event| writer.event(event));
    writer.end()
}

/// The lines, unfolded.
fn lines(text: &str) -> Vec<String> {
    let unfolded = text.replace("\r\n ", "");
    unfolded.split_terminator("\r\n").map(str::to_owned).collect()
}

fn has(text: &str, line: &str) -> bool {
    lines(text).iter().any(|written| written == line)
}

#[track_caller]
fn assert_has(text: &str, expected: &[&str]) {
    for line in expected {
        assert!(has(text, line), "{line} is not in\n{text}");
    }
}

#[test]
fn an_empty_calendar_is_a_feed() {
    let text = written(&calendar("Ops; on call, \\ \"all\"\r\nBEGIN:VEVENT", "Europe/Berlin"), []);
    let expected = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//Kalends//Kalends//EN",
        "CALSCALE:GREGORIAN",
        "X-WR-CALNAME:Ops\\; on call\\, \\\\ \"all\"\\nBEGIN:VEVENT",
        "REFRESH-INTERVAL;VALUE=DURATION:PT5M",
        "X-PUBLISHED-TTL:PT5M",
        "END:VCALENDAR",
    ];
    assert_eq!(lines(&text), expected);
}

#[test]
fn a_one_off_event_is_in_utc_and_rounded_outward() {
    let calendar = calendar("Work", "Europe/Berlin");
    let times = ("2026-03-01T09:00:00.25Z", "2026-03-01T10:00:00.000001Z");
    let mut event = event(1, &calendar, times, None);
    event.title = "Plan\r\nwith \u{0}Ada, Bob; \u{7f}\u{2028}C\\D\rE\u{1b}[0m".into();
    event.description = Some("One\nTwo\tThree".into());
    event.location = Some("Room 2; floor 3,\r\nBerlin".into());
    event.conference_url = Some(ConferenceUrl::parse("", "https://meet.example.com/a?b=1,2;c=3").unwrap());
    event.status = EventStatus::Tentative;
    event.version = Version(3);
    event.reminders = Some(Reminders::parse("reminders", &[15, 1440]).unwrap());
    let text = written(&calendar, [event]);
    let uid = id(1);
    assert_has(
        &text,
        &[
            &format!("UID:{uid}@kalends"),
            "DTSTART:20260301T090000Z",
            "DTEND:20260301T100001Z",
            "DTSTAMP:20260102T030405Z",
            "CREATED:20260102T030405Z",
            "LAST-MODIFIED:20260102T030405Z",
            "SEQUENCE:2",
            "STATUS:TENTATIVE",
            "SUMMARY:Plan\\nwith Ada\\, Bob\\; \\nC\\\\D\\nE[0m",
            "DESCRIPTION:One\\nTwo\tThree",
            "LOCATION:Room 2\\; floor 3\\,\\nBerlin",
            // The value is a URI and not a text, so nothing in it is escaped.
            "CONFERENCE;VALUE=URI:https://meet.example.com/a?b=1,2;c=3",
            "TRIGGER:-PT15M",
            "TRIGGER:-PT1440M",
            &format!("UID:{uid}-15@kalends"),
        ],
    );
    assert_eq!(lines(&text).iter().filter(|line| *line == "BEGIN:VALARM").count(), 2);
    assert!(!text.contains("VTIMEZONE"), "{text}");
}

#[rstest]
#[case::own(Some(&[5_i64][..]), Some(&[30_i64][..]), &["TRIGGER:-PT5M"])]
#[case::none_at_all(Some(&[][..]), Some(&[30][..]), &[])]
#[case::the_calendars(None, Some(&[30, 60][..]), &["TRIGGER:-PT60M", "TRIGGER:-PT30M"])]
#[case::the_calendar_has_none(None, Some(&[][..]), &[])]
#[case::ten_minutes(None, None, &["TRIGGER:-PT10M"])]
fn reminders_are_inherited(#[case] own: Option<&[i64]>, #[case] default: Option<&[i64]>, #[case] expected: &[&str]) {
    let reminders = |minutes: &[i64]| Reminders::parse("reminders", minutes).unwrap();
    let calendar = Calendar { default_reminders: default.map(reminders), ..calendar("Work", "UTC") };
    let mut event = event(1, &calendar, ("2026-03-01T09:00:00Z", "2026-03-01T10:00:00Z"), None);
    event.reminders = own.map(reminders);
    let text = written(&calendar, [event]);
    let triggers: Vec<String> = lines(&text).into_iter().filter(|line| line.starts_with("TRIGGER")).collect();
    assert_eq!(triggers, expected);
}

#[rstest]
#[case::short_day(("2026-03-29", "2026-03-30"), "Europe/Berlin", "Europe/Berlin", ("20260329", "20260330"))]
#[case::instants_in_the_day(
    ("2026-03-01T09:00:00Z", "2026-03-02T10:00:00Z"), "UTC", "UTC", ("20260301", "20260303")
)]
#[case::the_calendar_moved(("2026-03-01", "2026-03-02"), "UTC", "America/New_York", ("20260228", "20260302"))]
fn all_day_events_are_dates_of_the_calendars_zone(
    #[case] times: (&str, &str),
    #[case] made_in: &str,
    #[case] read_in: &str,
    #[case] expected: (&str, &str),
) {
    let mut event = event(1, &calendar("Work", made_in), times, None);
    event.times.all_day = true;
    let text = written(&calendar("Work", read_in), [event]);
    let (start, end) = expected;
    assert_has(&text, &[&format!("DTSTART;VALUE=DATE:{start}"), &format!("DTEND;VALUE=DATE:{end}")]);
}

#[test]
fn a_series_keeps_its_zone_over_daylight_saving() {
    let calendar = calendar("Work", "UTC");
    let berlin = ("FREQ=WEEKLY;BYDAY=MO,WE;COUNT=12", Some("Europe/Berlin"), &["2026-03-25T08:00:00Z"][..]);
    let text =
        written(&calendar, [event(1, &calendar, ("2026-03-23T08:00:00Z", "2026-03-23T08:45:00Z"), Some(berlin))]);
    assert_has(
        &text,
        &[
            "DTSTART;TZID=Europe/Berlin:20260323T090000",
            "DTEND;TZID=Europe/Berlin:20260323T094500",
            // The twelfth occurrence: 29 April at 09:00, by then two hours ahead of UTC.
            "RRULE:FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20260429T070000Z",
            "EXDATE;TZID=Europe/Berlin:20260325T090000",
            "BEGIN:VTIMEZONE",
            "TZID:Europe/Berlin",
            "RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU",
            "RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU",
            "TZNAME:CEST",
        ],
    );
    assert_eq!(text.matches("BEGIN:VTIMEZONE").count(), 1);
    assert!(text.find("BEGIN:VTIMEZONE") < text.find("BEGIN:VEVENT"));
}

#[rstest]
#[case::utc(
    ("2026-03-23T08:00:00Z", "2026-03-23T08:45:00Z"),
    ("FREQ=DAILY;UNTIL=20260401", None),
    &["2026-03-25T08:00:00Z", "2026-03-25T09:00:00Z"],
    &["DTSTART:20260323T080000Z", "RRULE:FREQ=DAILY;UNTIL=20260401T080000Z", "EXDATE:20260325T080000Z"]
)]
#[case::endless(
    ("2026-03-23T08:00:00Z", "2026-03-23T08:45:00Z"),
    ("FREQ=MONTHLY;BYDAY=-1FR;INTERVAL=2", None),
    &[],
    &["RRULE:FREQ=MONTHLY;INTERVAL=2;BYDAY=-1FR", "RDATE:20260323T080000Z"]
)]
#[case::all_day(
    ("2026-03-28", "2026-03-30"),
    ("FREQ=DAILY;INTERVAL=7;COUNT=3", None),
    &["2026-04-04"],
    &[
        "DTSTART;VALUE=DATE:20260328",
        "DTEND;VALUE=DATE:20260330",
        "RRULE:FREQ=DAILY;INTERVAL=7;UNTIL=20260411",
        "EXDATE;VALUE=DATE:20260404",
    ]
)]
#[case::clocks_change_during_the_first(
    ("2026-03-28T21:00:00Z", "2026-03-29T05:00:00Z"),
    ("FREQ=DAILY;COUNT=2", Some("Europe/Berlin")),
    &[],
    &["DTSTART;TZID=Europe/Berlin:20260328T220000", "DURATION:PT28800S"]
)]
fn series(
    #[case] times: (&str, &str),
    #[case] (rule, zone): (&str, Option<&str>),
    #[case] cancelled: &[&str],
    #[case] expected: &[&str],
) {
    let calendar = calendar("Work", "Europe/Berlin");
    let text = written(&calendar, [event(1, &calendar, times, Some((rule, zone, cancelled)))]);
    assert_has(&text, expected);
    let of = |name: &str| lines(&text).iter().filter(|line| line.starts_with(name)).count();
    assert_eq!(of("EXDATE"), expected.iter().filter(|line| line.starts_with("EXDATE")).count());
    assert_eq!(of("RDATE"), expected.iter().filter(|line| line.starts_with("RDATE")).count());
}

#[test]
fn a_start_in_the_second_of_two_equal_hours_is_written_on_its_own() {
    let calendar = calendar("Work", "UTC");
    let times = ("2026-10-25T01:30:00Z", "2026-10-25T02:00:00Z");
    let text = written(&calendar, [event(1, &calendar, times, Some(("FREQ=DAILY", Some("Europe/Berlin"), &[])))]);
    assert_has(
        &text,
        &["DTSTART;TZID=Europe/Berlin:20261025T023000", "RECURRENCE-ID;TZID=Europe/Berlin:20261025T023000"],
    );
    assert_has(&text, &["DTSTART:20261025T013000Z", "DTEND:20261025T020000Z"]);
}

/// The series, and its occurrence at `start` after `patch`.
fn overridden(series: &Event, start: &str, patch: EventPatch) -> (Event, Event) {
    let instance = series.instance(at(start)).unwrap();
    series.with_occurrence_patched(&instance, id(2), patch, Zone::UTC, at("2026-02-01T00:00:00Z")).unwrap()
}

#[test]
fn overrides_have_the_recurrence_id_of_their_occurrence() {
    let calendar = calendar("Work", "Europe/Berlin");
    let times = ("2026-03-23T08:00:00Z", "2026-03-23T09:00:00Z");
    let series = event(1, &calendar, times, Some(("FREQ=DAILY", Some("Europe/Berlin"), &[])));
    let patch = EventPatch {
        title: Patch::Set("Retro".into()),
        start: Patch::Set(Moment::At(at("2026-03-31T12:00:00Z"))),
        end: Patch::Set(Moment::At(at("2026-03-31T13:00:00Z"))),
        ..EventPatch::default()
    };
    let (mut series, changed) = overridden(&series, "2026-03-30T07:00:00Z", patch);
    series.version = Version(9);
    let expected = ["RECURRENCE-ID;TZID=Europe/Berlin:20260330T090000", "DTSTART:20260331T120000Z", "SUMMARY:Retro"];
    let text = written(&calendar, [changed.clone(), series.clone()]);
    assert_has(&text, &expected);
    assert_eq!(text, written(&calendar, [series.clone(), changed.clone()]));
    assert_eq!(text.matches("BEGIN:VEVENT").count(), 2);
    assert_eq!(lines(&text).iter().filter(|line| *line == &format!("UID:{}@kalends", id(1))).count(), 2);
    assert_eq!(lines(&text).iter().filter(|line| *line == "SEQUENCE:8").count(), 2);
    assert!(!text.contains("EXDATE"), "{text}");

    // A cancelled override becomes an EXDATE, and is not shown.
    let cancelled = Event { status: EventStatus::Cancelled, ..changed.clone() };
    let text = written(&calendar, [series.clone(), cancelled]);
    assert_has(&text, &["EXDATE;TZID=Europe/Berlin:20260330T090000"]);
    assert_eq!(text.matches("BEGIN:VEVENT").count(), 1);

    // If the series itself is cancelled, the override still takes place.
    let gone = Event { status: EventStatus::Cancelled, ..series };
    let text = written(&calendar, [gone, changed]);
    assert_has(&text, &[&format!("UID:{}@kalends", id(2)), "DTSTART:20260331T120000Z"]);
    assert!(!text.contains("RECURRENCE-ID") && !text.contains("RRULE"), "{text}");
}

#[test]
fn only_internal_events_that_take_place_are_in_the_feed() {
    let calendar = calendar("Work", "UTC");
    let listed = event(1, &calendar, ("2026-03-01T09:00:00Z", "2026-03-01T10:00:00Z"), None);
    assert!(is_in_feed(&listed));
    let hidden = [
        Event { status: EventStatus::Cancelled, ..listed.clone() },
        Event { status: EventStatus::Hold, ..listed.clone() },
        Event { source: EventSource::ExternalIcal, ..listed.clone() },
        Event { deleted_at: Some(at("2026-03-01T00:00:00Z")), ..listed.clone() },
    ];
    assert!(hidden.iter().all(|event| !is_in_feed(event)));
    assert_eq!(written(&calendar, hidden), written(&calendar, []));
    assert_eq!(listed.repeats, Repeats::Once);
}

#[test]
fn different_states_have_different_etags() {
    let tag = etag(Revision(12), Version(3));
    assert!(tag.starts_with("\"12.3.") && tag.ends_with('"'), "{tag}");
    assert_ne!(tag, etag(Revision(13), Version(3)));
    assert_ne!(tag, etag(Revision(12), Version(4)));
}

#[test]
fn pieces_add_up_to_the_feed() {
    let calendar = calendar("Work", "UTC");
    let events =
        || (1..9).map(|number| event(number, &calendar, ("2026-03-01T09:00:00Z", "2026-03-01T10:00:00Z"), None));
    let mut writer = FeedWriter::new(&calendar);
    let mut pieces = String::new();
    for event in events() {
        writer.event(event);
        assert!(writer.written() > 0);
        pieces.push_str(&writer.take());
        assert_eq!(writer.written(), 0);
    }
    pieces.push_str(&writer.end());
    assert_eq!(pieces, written(&calendar, events()));
}
