//! Answers as models read them: once, short, with local times and weekdays beside UTC.

use std::fmt;

use kalends_kernel::FieldError;
use kalends_time::{CivilDateTime, Timestamp, Zone};
use serde_json::{Map, Value, json};

use crate::mcp::untrusted;

/// The days of the week, from Monday on.
const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// The fields of events that [`event`] uses. Some of them only decide whether other people wrote the event.
pub(super) const FIELDS: &[&str] = &[
    "id",
    "title",
    "startTime",
    "endTime",
    "local",
    "calendarId",
    "allDay",
    "status",
    "holdExpiresAt",
    "holdSetId",
    "recurrenceRule",
    "location",
    "source",
    "description",
    "conferenceUrl",
    "attendees",
    "metadata",
];

/// An event, a hold or an occurrence as lists show it. Local times are in `zone`, or else in the zone of the answer's
/// `local`.
pub(in super::super) fn event(event: &Value, zone: Option<Zone>) -> Value {
    let mut short = Map::new();
    short.insert("event_id".into(), event["id"].clone());
    short.insert("title".into(), event["title"].clone());
    let (start, end) = (instant(&event["startTime"]), instant(&event["endTime"]));
    let zone = zone.or_else(|| event["local"]["timezone"].as_str()?.parse().ok()).unwrap_or(Zone::UTC);
    if let (Some(start), Some(end)) = (start, end) {
        short.extend(times(start, end, zone));
    }
    short.insert("calendar_id".into(), event["calendarId"].clone());
    if event["allDay"] == true {
        short.insert("all_day".into(), true.into());
    }
    if event["status"] != "confirmed" {
        short.insert("status".into(), event["status"].clone());
    }
    for (name, field) in [
        ("hold_expires_at", "holdExpiresAt"),
        ("hold_set_id", "holdSetId"),
        ("recurrence_rule", "recurrenceRule"),
        ("location", "location"),
    ] {
        if !event[field].is_null() {
            short.insert(name.into(), event[field].clone());
        }
    }
    if !untrusted::of_object(event).is_empty() {
        // The mark makes the result begin with a warning.
        short.insert(untrusted::MARK.into(), true.into());
    }
    Value::Object(short)
}

/// A span: both times in UTC, and when it is in the zone, such as `Thu 2026-03-05 10:00-11:00 Europe/Berlin`.
pub(super) fn times(start: Timestamp, end: Timestamp, zone: Zone) -> Map<String, Value> {
    let mut times = Map::new();
    times.insert("start".into(), start.to_string().into());
    times.insert("end".into(), end.to_string().into());
    times.insert("when".into(), when(start, end, zone).into());
    times
}

/// [`times`] of a slot or a busy time, which has `start` and `end`.
pub(super) fn slot(slot: &Value, zone: Zone) -> Value {
    Value::Object(span(&slot["start"], &slot["end"], zone))
}

/// [`times`] of a start and an end in an answer.
pub(in super::super) fn span(start: &Value, end: &Value, zone: Zone) -> Map<String, Value> {
    match (instant(start), instant(end)) {
        (Some(start), Some(end)) => times(start, end, zone),
        _ => Map::from_iter([("start".to_owned(), start.clone()), ("end".to_owned(), end.clone())]),
    }
}

/// Adds to an error about a taken time when its spans are in the zone: what blocks it, and the nearest free times.
pub(super) fn conflict(error: &mut Value, zone: Zone) {
    for list in ["conflicts", "nearest_free"] {
        for span in error.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            *span = with_when(span.take(), zone);
        }
    }
}

/// A span with `start` and `end`, and when it is in the zone.
pub(super) fn with_when(mut span: Value, zone: Zone) -> Value {
    if let (Some(start), Some(end)) = (instant(&span["start"]), instant(&span["end"])) {
        span["when"] = when(start, end, zone).into();
    }
    span
}

/// What the clocks of a zone show at a time, such as `Thu 2026-03-05 10:00 Europe/Berlin`.
pub(in super::super) fn at(at: Timestamp, zone: Zone) -> String {
    format!("{} {}", Moment(zone.to_civil(at)), zone.name())
}

/// When a span is in a zone.
pub(super) fn when(start: Timestamp, end: Timestamp, zone: Zone) -> String {
    let (from, to) = (zone.to_civil(start), zone.to_civil(end));
    if from.date == to.date {
        format!("{}-{} {}", Moment(from), Clock(to), zone.name())
    } else {
        format!("{}-{} {}", Moment(from), Moment(to), zone.name())
    }
}

/// Shows a date with its weekday, and the time.
struct Moment(CivilDateTime);

impl fmt::Display for Moment {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let date = self.0.date;
        let weekday = WEEKDAYS.get(usize::from(date.weekday())).copied().unwrap_or_default();
        write!(to, "{weekday} {date} {}", Clock(self.0))
    }
}

/// Shows the time of day.
struct Clock(CivilDateTime);

impl fmt::Display for Clock {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (hour, minute, _) = self.0.time.hour_minute_second();
        write!(to, "{hour:02}:{minute:02}")
    }
}

/// A time in an answer.
pub(super) fn instant(value: &Value) -> Option<Timestamp> {
    value.as_str()?.parse().ok()
}

/// The longest message of an error about an argument, in characters. It may repeat what was sent.
const MESSAGE_MAX: usize = 1_000;

/// The error about an argument in the form of the API's errors.
pub(in super::super) fn argument_error(error: &FieldError) -> Value {
    json!({
        "type": "validation_error", "code": "invalid_value",
        "message": error.to_string().chars().take(MESSAGE_MAX).collect::<String>(), "param": error.param,
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn local_times_have_a_weekday() {
        let berlin: Zone = "Europe/Berlin".parse().unwrap();
        let span = |start, end| when(at(start), at(end), berlin);
        assert_eq!(span("2026-03-05T09:00:00Z", "2026-03-05T10:00:00Z"), "Thu 2026-03-05 10:00-11:00 Europe/Berlin");
        assert_eq!(
            span("2026-03-05T22:30:00Z", "2026-03-05T23:30:00Z"),
            "Thu 2026-03-05 23:30-Fri 2026-03-06 00:30 Europe/Berlin"
        );
    }

    #[test]
    fn an_event_is_short() {
        let full = json!({
            "id": "evt_1", "title": "Lunch", "startTime": "2026-03-05T11:00:00Z", "endTime": "2026-03-05T12:00:00Z",
            "calendarId": "cal_1", "status": "hold", "holdExpiresAt": "2026-03-05T10:00:00Z", "allDay": false,
            "recurrenceRule": null, "source": "internal", "metadata": {},
            "local": { "timezone": "Asia/Tokyo", "start": "2026-03-05T20:00:00+09:00" },
        });
        let short = json!({
            "event_id": "evt_1", "title": "Lunch", "start": "2026-03-05T11:00:00Z", "end": "2026-03-05T12:00:00Z",
            "when": "Thu 2026-03-05 20:00-21:00 Asia/Tokyo", "calendar_id": "cal_1", "status": "hold",
            "hold_expires_at": "2026-03-05T10:00:00Z",
        });
        assert_eq!(event(&full, None), short);
        assert_eq!(event(&full, Some(Zone::UTC))["when"], "Thu 2026-03-05 11:00-12:00 UTC");
    }

    #[rstest]
    #[case::own(json!({ "source": "internal", "allDay": true, "status": "tentative", "metadata": {} }), false)]
    #[case::imported(json!({ "source": "external_ical", "title": "", "description": "Buy now" }), true)]
    #[case::imported_for_somebody(json!({ "source": "external_ical", "attendees": [{ "email": "a" }] }), true)]
    #[case::booked(json!({ "source": "internal", "metadata": { "booking": { "name": "Ada" } } }), true)]
    fn the_other_fields_do_not_matter(#[case] given: Value, #[case] is_marked: bool) {
        let mut full = given;
        for (name, value) in [
            ("id", json!("evt_1")),
            ("calendarId", json!("cal_1")),
            ("startTime", json!("2026-03-05T11:00:00Z")),
            ("endTime", json!("2026-03-05T12:00:00Z")),
            ("holdExpiresAt", Value::Null),
            ("holdSetId", json!("hst_1")),
            ("recurrenceRule", json!("FREQ=DAILY")),
            ("location", json!("Room 2")),
            ("local", json!({ "timezone": "Asia/Tokyo" })),
            ("reminders", json!([5])),
            ("createdAt", json!("2026-03-05T11:00:00Z")),
        ] {
            full[name] = value;
        }
        let mut kept = full.clone();
        kept.as_object_mut().unwrap().retain(|name, value| FIELDS.contains(&name.as_str()) && !value.is_null());
        let short = event(&full, None);
        assert_eq!(event(&kept, None), short);
        assert_eq!(short[untrusted::MARK] == true, is_marked, "{short:#}");
    }

    #[test]
    fn a_conflict_shows_local_times() {
        let span = json!({ "kind": "event", "start": "2026-03-05T09:00:00Z", "end": "2026-03-05T10:00:00Z" });
        let mut error = json!({ "code": "slot_taken", "conflicts": [span], "nearest_free": [] });
        conflict(&mut error, "Europe/Berlin".parse().unwrap());
        assert_eq!(error["conflicts"][0]["when"], "Thu 2026-03-05 10:00-11:00 Europe/Berlin");
        assert_eq!((&error["conflicts"][0]["kind"], &error["nearest_free"]), (&json!("event"), &json!([])));
        let mut other = json!({ "code": "not_found" });
        conflict(&mut other, Zone::UTC);
        assert_eq!(other, json!({ "code": "not_found" }));
    }

    #[test]
    fn text_of_others_is_marked() {
        let imported = json!({ "id": "evt_1", "title": "Buy now", "source": "external_ical" });
        let short = event(&imported, None);
        assert_eq!(untrusted::places(&json!({ "events": [short] })), ["/events/0/title"]);
    }
}
