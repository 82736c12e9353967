//! Example series for tests.

use kalends_kernel::{EventId, FieldErrors, Metadata, OrgId};
use kalends_time::{SignedDuration, Span, Timestamp, Zone};
use proptest::prelude::*;

use crate::{
    AgentActivity, Attendees, Calendar, Conflicts, Event, EventError, EventPatch, EventStatus, Moment, NewCalendar,
    NewEvent, NewRecurrence, Patch, RecurrencePatch,
};

pub(crate) fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

pub(crate) fn id(number: u8) -> EventId {
    format!("evt_000000000000000000000000{number:02}").parse().unwrap()
}

pub(crate) fn calendar(zone: &str) -> Calendar {
    let new = NewCalendar {
        name: "Work".into(),
        zone: zone.parse().unwrap(),
        activity: AgentActivity::Idle,
        default_reminders: None,
        conflicts: Conflicts::Allow,
        recurrence_default: None,
        metadata: Metadata::default(),
    };
    let org: OrgId = "org_00000000000000000000000001".parse().unwrap();
    let id = "cal_00000000000000000000000001".parse().unwrap();
    Calendar::create(id, org, None, new, "token".into(), Timestamp::from_micros(0))
}

/// A series on a calendar in Berlin.
pub(crate) fn made(
    start: &str,
    end: &str,
    rule: &str,
    zone: Option<&str>,
    exdates: &[&str],
) -> Result<Event, FieldErrors> {
    let all_day = start.len() == 10;
    let new = NewEvent {
        title: "Standup".into(),
        description: None,
        location: None,
        conference_url: None,
        attendees: Attendees::default(),
        start: Moment::parse("start_time", start)?,
        end: Moment::parse("end_time", end)?,
        all_day,
        status: EventStatus::Confirmed,
        metadata: Metadata::default(),
        reminders: None,
        recurrence: Some(NewRecurrence {
            rule: rule.parse().unwrap(),
            exdates: super::exdates(exdates, |param, text| Moment::parse(param, text))?,
            zone: zone.map(|zone| zone.parse().unwrap()),
        }),
        hold: None,
        if_free: false,
        if_as_of: None,
        send_invitations: false,
    };
    Event::create(id(1), &calendar("Europe/Berlin"), new, Timestamp::from_micros(5))
}

pub(crate) fn weekly() -> Event {
    made("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z", "FREQ=WEEKLY;COUNT=10", None, &[]).unwrap()
}

pub(crate) fn patched(event: &Event, patch: EventPatch) -> Result<Event, EventError> {
    event.patched(patch, "Europe/Berlin".parse::<Zone>().unwrap(), Timestamp::from_micros(9))
}

pub(crate) fn rule(text: &str) -> EventPatch {
    let recurrence = RecurrencePatch { rule: Patch::Set(Some(text.parse().unwrap())), ..RecurrencePatch::default() };
    EventPatch { recurrence, ..EventPatch::default() }
}

pub(crate) fn moved(start: &str, end: &str) -> EventPatch {
    EventPatch {
        start: Patch::Set(Moment::At(at(start))),
        end: Patch::Set(Moment::At(at(end))),
        ..EventPatch::default()
    }
}

/// The series and the override of its occurrence at `start`, with another title.
pub(crate) fn overridden(series: &Event, start: &str) -> (Event, Event) {
    let instance = series.instance(at(start)).unwrap();
    let patch = EventPatch { title: Patch::Set("Retro".into()), ..EventPatch::default() };
    series.with_occurrence_patched(&instance, id(2), patch, Zone::UTC, Timestamp::from_micros(9)).unwrap()
}

pub(crate) fn all(event: &Event) -> Vec<Span> {
    let ever = Span::new(Timestamp::from_micros(0), Timestamp::HORIZON).unwrap();
    event.repeating().unwrap().occurrences(ever).collect()
}

pub(crate) fn starts(event: &Event) -> Vec<String> {
    all(event).iter().map(|span| span.start().to_string()).collect()
}

pub(crate) fn rules() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(vec![
        "FREQ=DAILY;COUNT=30",
        "FREQ=DAILY;INTERVAL=3;COUNT=12",
        "FREQ=WEEKLY;BYDAY=MO,WE,FR;COUNT=20",
        "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;UNTIL=20260701",
        "FREQ=MONTHLY;BYDAY=-1FR;COUNT=9",
        "FREQ=MONTHLY;BYMONTHDAY=31;UNTIL=20270101",
        "FREQ=YEARLY;COUNT=3",
    ])
}

pub(crate) fn series() -> impl Strategy<Value = Event> {
    let zones = proptest::sample::select(vec![None, Some("Europe/Berlin"), Some("America/New_York")]);
    (rules(), zones, 0..24 * 28_i64, 1..40_i64).prop_map(|(rule, zone, hour, hours)| {
        let start = at("2026-03-02T00:00:00Z") + SignedDuration::hours(hour);
        let end = start + SignedDuration::hours(hours);
        made(&start.to_string(), &end.to_string(), rule, zone, &[]).unwrap()
    })
}
