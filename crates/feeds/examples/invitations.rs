//! Writes invitations as JSON together with what each says, for `cargo xtask interop`.
//!
//! The JSON is a list of `{"name", "text", "method", "uid", "sequence", "status", "attendee", "partstat", "starts",
//! "recurrence_id", "summary"}`. `starts` are the occurrences in the year 2026, in seconds since 1970, of the whole
//! message.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program for tests, which fails this way")]

use kalends_calendars::{
    AgentActivity, Attendee, AttendeeRole, AttendeeStatus, Attendees, Calendar, Conflicts, Event, EventPatch,
    EventStatus, Moment, NewCalendar, NewEvent, NewRecurrence, Patch,
};
use kalends_feeds::write::{Meeting, Method, Party};
use kalends_kernel::{Foreign, Metadata};
use kalends_time::Timestamp;
use serde_json::{Value, json};

const ADA: &str = "ada@example.com";

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn calendar() -> Calendar {
    let new = NewCalendar {
        name: "Work".into(),
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

fn attendee(email: &str, name: &str) -> Attendee {
    Attendee::parse("attendees[0]", email, Some(name), AttendeeRole::Required, None).unwrap()
}

fn event(start: &str, end: &str, rule: Option<&str>) -> Event {
    let moment = |text: &str| Moment::parse("start_time", text).unwrap();
    let new = NewEvent {
        title: "Review; \"long\", with ünïcode and https://example.com".into(),
        description: Some("First line\n\nSecond, with; signs\\".into()),
        location: Some("Room 2, first floor".into()),
        conference_url: None,
        attendees: Attendees::new(vec![attendee(ADA, "Ada \"A\"; Lovelace"), attendee("eve@example.com", "Eve")])
            .unwrap(),
        start: moment(start),
        end: moment(end),
        all_day: start.len() == 10,
        status: EventStatus::Confirmed,
        metadata: Metadata::default(),
        reminders: None,
        recurrence: rule.map(|rule| NewRecurrence {
            rule: rule.parse().unwrap(),
            exdates: Vec::new(),
            zone: Some("Europe/Berlin".parse().unwrap()),
        }),
        hold: None,
        if_free: false,
        if_as_of: None,
        send_invitations: true,
    };
    let id = "evt_00000000000000000000000001".parse().unwrap();
    Event::create(id, &calendar(), new, at("2026-01-02T00:00:00Z")).unwrap()
}

/// A message to Ada, with what it says.
fn message(name: &str, method: Method, event: &Event, series: Option<&Event>, overrides: &[Event]) -> Value {
    let meeting = Meeting::new(calendar().zone, event, series, overrides);
    let ada = event.attendees.as_slice().iter().find(|attendee| attendee.email.as_str() == ADA).unwrap();
    let text = meeting.to(&Party {
        method,
        organizer: (&Foreign::new("Work agent"), "no-reply@example.com"),
        attendee: ada,
        link: (method == Method::Request).then_some(("Reply:", "https://example.com/rsvp/token")),
        takes_place: event.takes_place(),
        written: at("2026-01-03T00:00:00Z"),
    });
    let of = series.unwrap_or(event);
    let year = kalends_time::Span::new(at("2026-01-01T00:00:00Z"), at("2027-01-01T00:00:00Z")).unwrap();
    let mut starts: Vec<i64> = match event.recurrence() {
        None => vec![event.times.span.start().as_micros() / 1_000_000],
        Some(recurrence) => {
            let occurs = recurrence.series(event.times).unwrap();
            let own = occurs.starts(year.start()..year.end());
            let kept = own.filter(|start| !recurrence.overridden().contains(start));
            kept.chain(overrides.iter().map(|event| event.times.span.start()))
                .map(|start| start.as_micros() / 1_000_000)
                .collect()
        }
    };
    starts.sort_unstable();
    let status = match (method, event.status, event.takes_place()) {
        (Method::Cancel, _, true) => Value::Null,
        (Method::Cancel, ..) => json!("CANCELLED"),
        (Method::Request, EventStatus::Tentative, _) => json!("TENTATIVE"),
        (Method::Request, ..) => json!("CONFIRMED"),
    };
    json!({
        "name": name,
        "text": text,
        "method": method.as_str(),
        "uid": format!("{}@kalends", of.id),
        "sequence": of.version.0 - 1,
        "status": status,
        "attendee": format!("mailto:{ADA}"),
        "partstat": if ada.status == AttendeeStatus::Accepted { "ACCEPTED" } else { "NEEDS-ACTION" },
        "starts": starts,
        "recurrence_id": series.and(event.occurrence()).map(|of| of.start.as_micros() / 1_000_000),
        "summary": Foreign::new(&event.title).as_str(),
    })
}

fn main() {
    let (zone, now) = (calendar().zone, at("2026-01-03T00:00:00Z"));
    let set = |text: &str| Patch::Set(Moment::At(at(text)));
    let once = event("2026-03-02T09:00:00Z", "2026-03-02T10:15:00Z", None);
    let ada = once.attendees.as_slice()[0].email.clone();
    let replied = once.with_reply(&ada, AttendeeStatus::Accepted, now).unwrap();
    let moved = EventPatch { start: set("2026-03-03T09:00:00Z"), ..EventPatch::default() };
    let moved = once.patched(moved, zone, now).unwrap();
    let maybe = EventPatch { status: Patch::Set(EventStatus::Tentative), ..EventPatch::default() };
    let days = event("2026-05-01", "2026-05-03", None).patched(maybe, zone, now).unwrap();
    // The clocks change on 29 March.
    let series = event("2026-03-16T09:00:00Z", "2026-03-16T10:00:00Z", Some("FREQ=WEEKLY;COUNT=5"));
    let instance = series.instance(at("2026-03-30T08:00:00Z")).unwrap();
    let later = EventPatch { start: set("2026-03-31T12:00:00Z"), ..EventPatch::default() };
    let id = "evt_00000000000000000000000002".parse().unwrap();
    let (changed, occurrence) = series.with_occurrence_patched(&instance, id, later, zone, now).unwrap();
    let gone = series.without_occurrence(at("2026-03-30T08:00:00Z"), now).unwrap();
    let messages = [
        message("a new event", Method::Request, &once, None, &[]),
        message("a reply", Method::Request, &replied, None, &[]),
        message("a moved event", Method::Request, &moved, None, &[]),
        message("whole days", Method::Request, &days, None, &[]),
        message("a deleted event", Method::Cancel, &moved.deleted(now).unwrap(), None, &[]),
        message("no longer invited", Method::Cancel, &moved, None, &[]),
        message("a series", Method::Request, &series, None, &[]),
        message(
            "a series with a changed occurrence",
            Method::Request,
            &changed,
            None,
            std::slice::from_ref(&occurrence),
        ),
        message("a changed occurrence", Method::Request, &occurrence, Some(&changed), &[]),
        message("a deleted occurrence", Method::Cancel, &instance.deleted(now).unwrap(), Some(&gone), &[]),
        message("a deleted series", Method::Cancel, &series.deleted(now).unwrap(), None, &[]),
    ];
    println!("{}", json!(messages));
}
