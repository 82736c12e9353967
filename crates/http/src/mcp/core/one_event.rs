//! One event as a whole, and how writes of events are answered.

use async_trait::async_trait;
use kalends_app::operations;
use kalends_time::Zone;
use serde_json::{Value, json};

use super::{
    arguments::Arguments,
    compact,
    failure::{Failure, Outcome},
    session::{Answer, Session},
    tool::{About, CoreTool, Effect},
};

/// `get_event`
pub(super) struct GetEvent;

#[async_trait]
impl CoreTool for GetEvent {
    fn about(&self) -> About {
        About {
            name: "get_event",
            title: "Get an event",
            description: "Returns one event, booking, occurrence or series with what lists leave out: description, call, \
                attendees with their replies, reminders, the rule of a series, the series_id of an occurrence, and the version, which \
                update_event and cancel_event take. Example: {\"event_id\": \"evt_...\"}",
            effect: Effect::Reads,
            operations: &[&operations::GET_EVENT],
            required: &["event_id"],
            renamed: &[("id", "event_id")],
        }
    }

    fn properties(&self) -> Value {
        json!({
            "event_id": { "type": "string", "description": "An event_id of list_events or book_slot." },
            "timezone": { "type": "string", "description": "IANA zone of the result. The calendar's if left out." },
        })
    }

    async fn run(&self, session: &Session<'_>, arguments: &Arguments) -> Outcome {
        let zone = arguments.zone("timezone")?;
        let answer = session.call(&operations::GET_EVENT, json!({ "id": arguments.needed("event_id")? })).await?;
        Ok(whole(&answer, zone))
    }
}

/// The event of an answer with everything that a model needs.
fn whole(answer: &Answer, zone: Option<Zone>) -> Value {
    let mut shown = written(answer, zone, &[]);
    details(&answer.body, &mut shown);
    shown
}

/// Adds what lists leave out.
fn details(event: &Value, shown: &mut Value) {
    for (name, field) in [
        ("description", "description"),
        ("conference_url", "conferenceUrl"),
        ("reminders", "reminders"),
        ("recurrence_timezone", "recurrenceTimezone"),
        ("series_id", "recurringEventId"),
    ] {
        if !event[field].is_null() {
            shown[name] = event[field].clone();
        }
    }
    let attendees: Vec<Value> = event["attendees"].as_array().into_iter().flatten().map(attendee).collect();
    if !attendees.is_empty() {
        shown["attendees"] = attendees.into();
    }
}

fn attendee(attendee: &Value) -> Value {
    let mut short = json!({ "email": attendee["email"], "status": attendee["status"] });
    if !attendee["name"].is_null() {
        short["name"] = attendee["name"].clone();
    }
    if attendee["role"] == "optional" {
        short["role"] = attendee["role"].clone();
    }
    short
}

/// The event of an answer as lists show it, with its version. The note has these sentences and the notices of the answer.
pub(super) fn written(answer: &Answer, zone: Option<Zone>, notes: &[String]) -> Value {
    let mut shown = compact::event(&answer.body, zone);
    if let Some(etag) = &answer.etag {
        shown["version"] = etag.trim_matches('"').into();
    }
    let notices = answer.body["notices"].as_array().into_iter().flatten();
    let notices = notices.filter_map(|notice| notice["message"].as_str());
    let notes: Vec<&str> = notes.iter().map(String::as_str).chain(notices).collect();
    if !notes.is_empty() {
        shown["note"] = notes.join(" ").into();
    }
    shown
}

/// The refusal of a write, with the argument or the call that helps. `allowed` says whether the call allowed a conflict.
pub(super) fn explained(failure: Failure, zone: Option<Zone>, allowed: bool) -> Failure {
    let Failure::Refused(mut error) = failure else { return failure };
    if error["code"] == "slot_taken" {
        let remedy = if allowed {
            "The calendar or the hold permits no conflict: send another time"
        } else {
            "Send another time, or allow_conflict: true to double-book"
        };
        let message = format!("{}. {remedy}.", error["message"].as_str().unwrap_or_default());
        error["message"] = message.into();
        compact::conflict(&mut error, zone.unwrap_or(Zone::UTC));
    } else if error["code"] == "stale" {
        error["message"] =
            "the event has changed since you read this version; call get_event, look at it, and send its \
            version"
                .into();
    }
    Failure::Refused(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_are_what_lists_leave_out() {
        let event = json!({
            "description": "Bring data", "conferenceUrl": null, "reminders": [], "recurrenceTimezone": "Europe/Berlin",
            "attendees": [
                { "email": "a@example.com", "role": "required", "status": "accepted" },
                { "email": "b@example.com", "name": "B", "role": "optional", "status": "declined" },
            ],
        });
        let mut shown = json!({ "event_id": "evt_1" });
        details(&event, &mut shown);
        let expected = json!({
            "event_id": "evt_1", "description": "Bring data", "reminders": [], "recurrence_timezone": "Europe/Berlin",
            "attendees": [
                { "email": "a@example.com", "status": "accepted" },
                { "email": "b@example.com", "status": "declined", "name": "B", "role": "optional" },
            ],
        });
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_taken_time_names_the_argument_that_allows_it() {
        let refused = |allowed| {
            let error = json!({
                "code": "slot_taken", "message": "it is taken",
                "nearest_free": [{ "start": "2026-03-05T09:00:00Z", "end": "2026-03-05T10:00:00Z" }],
            });
            let Failure::Refused(error) = explained(Failure::Refused(error), Some(Zone::UTC), allowed) else {
                panic!()
            };
            error
        };
        let error = refused(false);
        assert!(error["message"].as_str().unwrap().contains("allow_conflict"), "{error}");
        assert_eq!(error["nearest_free"][0]["when"], "Thu 2026-03-05 09:00-10:00 UTC");
        assert!(!refused(true)["message"].as_str().unwrap().contains("allow_conflict"));
    }
}
