//! Reading a resource.

use kalends_app::operations;
use kalends_kernel::{AgentId, CalendarId};
use kalends_time::{Timestamp, Zone};
use rmcp::{
    ErrorData,
    model::{JsonObject, MetaObject, ReadResourceResult, ResourceContents},
};
use serde::Serialize;
use serde_json::{Value, json};

use super::address::{Address, Days, JSON, known};
use crate::mcp::{
    core::{self, Failure, ListEvents, Outcome, Session},
    untrusted,
};

/// The most calendars in the list, and the most events in an agenda: the longest page of the API.
const SHOWN: u32 = kalends_kernel::LIMIT_MAX;
/// The most calendars of an agent whose context is shown. Each takes a call of an operation.
const CONTEXTS: u32 = 10;
/// How many characters of an address an error repeats.
const REPEATED: usize = 100;

/// The resource with this address.
///
/// # Errors
/// Resource not found (-32002) if there is no such resource, or the key does not reach it. Otherwise, the error of the
/// operation is in the `data`.
pub(in crate::mcp) async fn read(session: &Session<'_>, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let address = Address::parse(uri).ok_or_else(|| unknown(uri))?;
    let value = match address {
        Address::Calendars => calendars(session).await,
        Address::Agenda(calendar, days) => agenda(session, calendar, days).await,
        Address::Context(agent) => context(session, agent).await,
    };
    shown(uri, &value.map_err(failed)?)
}

/// The calendars whose events the key can read: those of its agent, or all of the organization.
///
/// # Errors
/// [`Failure::Refused`] if they cannot be listed.
pub(super) async fn calendars_reached(session: &Session<'_>, mut asked: Value) -> Outcome {
    let operation = match session.own_agent() {
        Some(own) => {
            asked["agent_id"] = own.to_string().into();
            &operations::LIST_AGENT_CALENDARS
        }
        None => {
            asked["include"] = "all".into();
            &operations::LIST_CALENDARS
        }
    };
    Ok(session.call(operation, asked).await?.body)
}

async fn calendars(session: &Session<'_>) -> Outcome {
    let mut found = json!({ "now": session.now().to_string() });
    let listed = calendars_reached(session, json!({ "limit": SHOWN })).await?;
    core::add_list(&mut found, "calendars", &listed, core::short_calendar);
    Ok(found)
}

/// What takes place on a calendar in these days of its zone, as the tool `list_events` shows it.
async fn agenda(session: &Session<'_>, calendar: CalendarId, days: Days) -> Outcome {
    let id = calendar.to_string();
    let calendar = session.call(&operations::GET_CALENDAR, json!({ "id": id })).await?.body;
    let (zone, now) = (zone(&calendar), session.now());
    let (first, last) = days.around(zone.to_civil(now).date);
    let asked = JsonObject::from_iter([
        ("calendar_id".to_owned(), id.into()),
        ("start".to_owned(), first.to_string().into()),
        ("end".to_owned(), last.to_string().into()),
        ("timezone".to_owned(), zone.name().into()),
        ("limit".to_owned(), SHOWN.into()),
    ]);
    let mut found = core::read(&ListEvents, session, asked).await?;
    let when = core::span(&found["from"], &found["to"], zone).remove("when");
    found["when"] = when.unwrap_or_default();
    found["calendar"] = core::short_calendar(&calendar);
    found["now"] = now.to_string().into();
    found["local_now"] = core::local_time(now, zone).into();
    if found.get("others").is_some() {
        found["note"] = "There are more: call list_events for a shorter time.".into();
    }
    Ok(found)
}

/// What an agent does now and next on each of its calendars.
async fn context(session: &Session<'_>, agent: AgentId) -> Outcome {
    let id = agent.to_string();
    let agent = session.call(&operations::GET_AGENT, json!({ "id": id })).await?.body;
    let asked = json!({ "agent_id": id, "limit": CONTEXTS });
    let listed = session.call(&operations::LIST_AGENT_CALENDARS, asked).await?.body;
    let (now, data) = (session.now(), listed["data"].as_array().map(Vec::as_slice).unwrap_or_default());
    let mut calendars = Vec::with_capacity(data.len());
    for calendar in data {
        match session.call(&operations::GET_CONTEXT, json!({ "id": calendar["id"] })).await {
            Ok(answer) => calendars.push(context_of(calendar, &answer.body, now)),
            // It was deleted after it was listed.
            Err(Failure::Refused(error)) if error["type"] == "not_found" => {}
            Err(failure) => return Err(failure),
        }
    }
    let mut found = json!({
        "agent_id": id, "name": agent["name"], "status": agent["status"], "now": now.to_string(), "calendars": calendars
    });
    let others = listed["total"].as_u64().unwrap_or_default().saturating_sub(data.len() as u64);
    if others > 0 {
        found["other_calendars"] = others.into();
        found["note"] = "There are more calendars: call getCalendarContext or list_events for them.".into();
    }
    Ok(found)
}

/// A calendar with what the API returns as its context.
fn context_of(calendar: &Value, context: &Value, now: Timestamp) -> Value {
    let zone = zone(calendar);
    let one = |event: &Value| if event.is_null() { Value::Null } else { core::short_event(event, Some(zone)) };
    let several = |events: &Value| -> Value { events.as_array().into_iter().flatten().map(one).collect() };
    let mut shown = core::short_calendar(calendar);
    shown["local_now"] = core::local_time(now, zone).into();
    shown["agent_status"] = context["agent_status"].clone();
    shown["current_event"] = one(&context["current_event"]);
    shown["next_event"] = one(&context["next_event"]);
    shown["upcoming"] = several(&context["upcoming"]);
    shown["recent_events"] = several(&context["recent_events"]);
    shown
}

/// The zone of a calendar as the API shows it.
fn zone(calendar: &Value) -> Zone {
    calendar["timezone"].as_str().and_then(|name| name.parse().ok()).unwrap_or(Zone::UTC)
}

/// A resource as JSON. If it contains text that third parties wrote, a warning comes first.
#[derive(Serialize)]
struct Shown<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
    #[serde(flatten)]
    value: &'a Value,
}

fn shown(uri: &str, value: &Value) -> Result<ReadResourceResult, ErrorData> {
    let foreign = untrusted::places(value);
    let warning = (!foreign.is_empty()).then(|| untrusted::warning(&foreign));
    let text = serde_json::to_string(&Shown { warning, value });
    let text = text.map_err(|_| ErrorData::internal_error("the resource cannot be written as JSON", None))?;
    let mut contents = ResourceContents::text(text, uri).with_mime_type(JSON);
    if !foreign.is_empty() {
        let meta = JsonObject::from_iter([("kalends/untrusted".to_owned(), json!(foreign))]);
        contents = contents.with_meta(MetaObject(meta));
    }
    Ok(ReadResourceResult::new(vec![contents]))
}

fn unknown(uri: &str) -> ErrorData {
    let uri: String = uri.chars().take(REPEATED).collect();
    let message = format!("there is no resource {uri:?}; the resources are {}", known());
    ErrorData::resource_not_found(message, Some(json!({ "uri": uri })))
}

/// The error of the protocol for a failure. Its `data` has the `error` that HTTP would return.
pub(super) fn failed(failure: Failure) -> ErrorData {
    match failure {
        Failure::Argument(error) => {
            ErrorData::invalid_params(error.to_string(), Some(json!({ "error": core::argument_error(&error) })))
        }
        Failure::Refused(error) => {
            let message = error["message"].as_str().unwrap_or("the resource cannot be read").to_owned();
            match error["type"].as_str() {
                Some("not_found" | "forbidden") => {
                    let message = format!("{message}; resources/list lists what this key reaches");
                    ErrorData::resource_not_found(message, Some(json!({ "error": error })))
                }
                _ => ErrorData::internal_error(message, Some(json!({ "error": error }))),
            }
        }
        // Only writes wait.
        Failure::Waits(_) => ErrorData::internal_error("the resource waits for approval", None),
        Failure::Lost(error) => error,
    }
}

#[cfg(test)]
mod tests {
    use kalends_kernel::FieldError;
    use rmcp::model::ErrorCode;
    use rstest::rstest;

    use super::*;

    fn text(result: &ReadResourceResult) -> Value {
        serde_json::to_value(result).unwrap()["contents"][0].clone()
    }

    #[test]
    fn text_of_third_parties_is_marked() {
        let own = shown("kalends://calendars", &json!({ "calendars": [] })).unwrap();
        let own = text(&own);
        assert_eq!((&own["text"], &own["mimeType"]), (&json!(r#"{"calendars":[]}"#), &json!(JSON)));
        assert!(own.get("_meta").is_none(), "{own:#}");
        let imported = json!({ "id": "evt_1", "title": "Buy now", "source": "external_ical" });
        let value = json!({ "events": [core::short_event(&imported, Some(Zone::UTC))] });
        let marked = text(&shown("kalends://calendars", &value).unwrap());
        assert_eq!(marked["_meta"]["kalends/untrusted"], json!(["/events/0/title"]));
        let shown = marked["text"].as_str().unwrap();
        let warning = r#"{"warning":"Other people may have written the text at /events/0/title."#;
        assert!(shown.starts_with(warning), "{shown}");
        let parsed: Value = serde_json::from_str(shown).unwrap();
        assert_eq!(parsed["events"], value["events"]);
    }

    #[test]
    fn a_context_has_local_times() {
        let event = |id: &str| {
            json!({
                "id": id, "title": "Lunch", "startTime": "2026-03-05T11:00:00Z", "endTime": "2026-03-05T12:00:00Z",
                "calendarId": "cal_1", "status": "confirmed",
            })
        };
        let calendar = json!({ "id": "cal_1", "name": "Work", "timezone": "Europe/Berlin", "agentId": "agt_1" });
        let context = json!({
            "agent_status": "busy", "current_event": null, "next_event": event("evt_1"), "upcoming": [event("evt_1")],
            "recent_events": [],
        });
        let shown = context_of(&calendar, &context, "2026-03-05T10:30:00Z".parse().unwrap());
        assert_eq!(shown["local_now"], "Thu 2026-03-05 11:30 Europe/Berlin");
        assert_eq!(shown["next_event"]["when"], "Thu 2026-03-05 12:00-13:00 Europe/Berlin");
        assert_eq!(shown["upcoming"][0], shown["next_event"]);
        assert_eq!((&shown["current_event"], &shown["recent_events"]), (&Value::Null, &json!([])));
        assert_eq!((&shown["calendar_id"], &shown["agent_status"]), (&json!("cal_1"), &json!("busy")));
    }

    #[rstest]
    #[case::not_found("not_found", ErrorCode::RESOURCE_NOT_FOUND)]
    #[case::out_of_reach("forbidden", ErrorCode::RESOURCE_NOT_FOUND)]
    #[case::a_limit("quota_exceeded", ErrorCode::INTERNAL_ERROR)]
    fn a_refusal_is_an_error_of_the_protocol(#[case] kind: &str, #[case] code: ErrorCode) {
        let error = failed(Failure::Refused(json!({ "type": kind, "message": "no" })));
        assert_eq!(error.code, code);
        assert!(error.message.starts_with("no"), "{}", error.message);
        assert_eq!(error.data.unwrap()["error"]["type"], kind);
    }

    #[test]
    fn an_argument_error_is_one_of_parameters() {
        let error = failed(FieldError::new("cal_id", "is required").into());
        assert_eq!((error.code, &*error.message), (ErrorCode::INVALID_PARAMS, "cal_id: is required"));
    }

    #[test]
    fn an_unknown_address_lists_the_known_ones() {
        let error = unknown(&"kalends://x".repeat(100));
        assert_eq!(error.code, ErrorCode::RESOURCE_NOT_FOUND);
        assert!(error.message.contains("kalends://agents/{agent_id}/context"), "{}", error.message);
        assert!(error.message.chars().count() < 500, "{}", error.message);
    }
}
