//! Changing and cancelling events, occurrences and series.

use async_trait::async_trait;
use kalends_app::operations;
use kalends_kernel::FieldError;
use kalends_time::Zone;
use serde_json::{Value, json};

use super::{
    arguments::Arguments,
    compact,
    event_arguments::{Times, attendees, copy, has_local_times, rule, version},
    event_target::{SCOPES, Target},
    failure::{Failure, Outcome},
    one_event::{explained, written},
    series_moves::{self, Moved, all_moved, lost_exceptions},
    session::Session,
    tool::{About, CoreTool, Effect},
};

/// The arguments with which an event may block other times than before.
const PLACING: [&str; 5] = ["start", "end", "duration_minutes", "recurrence_rule", "status"];
/// The code of the error about a version that is not the current one.
const STALE: &str = "stale";
/// How often a change is tried if the event changes between the reading and the writing.
const TRIES: usize = 3;

/// The error for a series that moves, if nothing in it shows by how much.
const NO_PLAIN_OCCURRENCE: &str = "is a series of which no unchanged occurrence was found, and moving it by its own id would \
    lose its exceptions; send the event_id of an unchanged occurrence (list_events), with scope all";

/// `update_event`
pub(super) struct UpdateEvent;

#[async_trait]
impl CoreTool for UpdateEvent {
    fn about(&self) -> About {
        About {
            name: "update_event",
            title: "Change an event",
            description: "Changes the fields that you send, and returns the event with its new version. start alone \
                moves the event and keeps its length; exceptions of a series move along. A taken time is refused. For \
                one date of a series, send the event_id of that occurrence from list_events. Nobody gets email unless \
                send_invitations is true. Example: {\"event_id\": \"evt_...\", \"start\": \"2026-03-05T15:00\"}",
            effect: Effect::Changes,
            operations: &[&operations::UPDATE_EVENT],
            required: &["event_id"],
            renamed: &[
                ("id", "event_id"),
                ("start_time", "start"),
                ("end_time", "end"),
                ("if_free", "allow_conflict"),
                ("If-Match", "version"),
            ],
        }
    }

    fn properties(&self) -> Value {
        json!({
            "event_id": { "type": "string", "description": "An event or an occurrence. The id of a series needs scope all." },
            "scope": {
                "type": "string", "enum": SCOPES, "default": "this",
                "description": "With an occurrence: only it, it and the later ones, or the whole series.",
            },
            "title": { "type": "string" },
            "start": { "type": "string", "description": "With the id of a series, the start of its first occurrence." },
            "end": { "type": "string", "description": "Exclusive." },
            "duration_minutes": { "type": "integer", "minimum": 1, "description": "Instead of end." },
            "timezone": { "type": "string", "description": "IANA zone of local times. The calendar's if left out." },
            "description": { "type": "string" },
            "location": { "type": "string" },
            "conference_url": { "type": "string" },
            "attendees": {
                "type": "array", "items": { "anyOf": [{ "type": "string" }, { "type": "object" }] },
                "description": "Replaces the list: anyone left out is removed. As in create_event.",
            },
            "recurrence_rule": { "type": "string", "description": "The new rule, such as FREQ=WEEKLY;BYDAY=MO." },
            "status": { "type": "string", "enum": ["confirmed", "tentative", "cancelled"] },
            "allow_conflict": { "type": "boolean", "default": false, "description": "Whether it may take a taken time." },
            "send_invitations": { "type": "boolean", "default": false, "description": "Whether to email the attendees." },
            "version": { "type": "string", "description": "From get_event. If the event has changed since, nothing changes." },
        })
    }

    async fn run(&self, session: &Session<'_>, arguments: &Arguments) -> Outcome {
        arguments.without_empty()?;
        let has_version = version(arguments)?.is_some();
        let mut tries = 1;
        loop {
            match change(session, arguments).await {
                Err(Failure::Refused(error)) if error["code"] == STALE && !has_version => {
                    if tries == TRIES {
                        return Err(unsteady(error));
                    }
                    tries += 1;
                }
                outcome => return outcome,
            }
        }
    }
}

/// Reads the event if need be, and changes it. What was computed from the event is written only if it is still the
/// same.
async fn change(session: &Session<'_>, arguments: &Arguments) -> Outcome {
    let named = arguments.zone("timezone")?;
    let allowed = arguments.flag("allow_conflict")?.unwrap_or(false);
    let is_local = has_local_times(arguments)?;
    let written_in = named.filter(|_| is_local).map(Zone::name);
    let times_need_it = arguments.value("duration_minutes").is_some() || is_local;
    let target = Target::of(session, arguments, times_need_it).await?;
    let before = &target.before;
    let zone = named.or_else(|| before["local"]["timezone"].as_str()?.parse().ok());
    let times = Times::of(arguments, zone, before["allDay"] == true, compact::instant(&before["startTime"]))?;
    let rule = rule(arguments)?;
    let places = PLACING.iter().any(|name| arguments.value(name).is_some());
    let moves = target.is_whole_series() && (times.start.is_some() || times.end.is_some());
    let occurrence = match &target.version {
        Some(version) if moves => series_moves::by_occurrence(session, before, version, &times).await?,
        _ => None,
    };
    let moved = occurrence.is_some();
    if moves && !moved {
        // By its own id, the series would lose what was cancelled or changed in it.
        return Err(FieldError::new("event_id", NO_PLAIN_OCCURRENCE).into());
    }
    let (id, scope, times) = match &occurrence {
        Some(Moved { id, times }) => (id, Some("all"), times),
        None => (&target.id, target.scope_to_send(), &times),
    };
    let mut asked = json!({
        "id": id,
        "scope": scope,
        "start_time": times.start,
        "end_time": times.end,
        "attendees": attendees(arguments)?,
        "recurrence_timezone": rule.as_ref().and_then(|_| target.zone_of_new_series(written_in)),
        "recurrence_rule": rule,
        // A renamed event may still overlap others.
        "if_free": (places && !allowed).then_some(true),
        "send_invitations": arguments.flag("send_invitations")?,
        "if_match": version(arguments)?.or_else(|| target.version.clone().filter(|_| places)),
    });
    copy(arguments, &["title", "description", "location", "conference_url", "status"], &mut asked)?;
    let answer = session.call(&operations::UPDATE_EVENT, asked).await;
    let answer = answer.map_err(|failure| explained(failure, zone, allowed))?;
    let series = if moved {
        all_moved(before, &answer.body, arguments.value("recurrence_rule").is_some())
    } else {
        lost_exceptions(before, &answer.body)
    };
    let notes = [target.split(&answer.body), series];
    Ok(written(&answer, named, &notes.into_iter().flatten().collect::<Vec<_>>()))
}

/// The error for an event that changed between each reading and writing.
fn unsteady(mut error: Value) -> Failure {
    error["message"] =
        "the event keeps changing while this call reads and writes it, so nothing was changed; call get_event, \
        look at it, and call again"
            .into();
    // The caller sent no version.
    if let Some(fields) = error.as_object_mut() {
        fields.remove("param");
    }
    Failure::Refused(error)
}

/// `cancel_event`
pub(super) struct CancelEvent;

#[async_trait]
impl CoreTool for CancelEvent {
    fn about(&self) -> About {
        About {
            name: "cancel_event",
            title: "Cancel an event",
            description: "Removes an event, an occurrence or a series. For one date of a series, send the event_id of \
                that occurrence from list_events; scope says whether the later ones or all go too. Nobody gets email \
                unless send_invitations is true. Holds: use release_hold. Example: {\"event_id\": \
                \"evt_..._20260305T090000Z\"}",
            effect: Effect::Changes,
            operations: &[&operations::DELETE_EVENT],
            required: &["event_id"],
            renamed: &[("id", "event_id"), ("If-Match", "version")],
        }
    }

    fn properties(&self) -> Value {
        json!({
            "event_id": { "type": "string", "description": "An event or an occurrence. The id of a series needs scope all." },
            "scope": {
                "type": "string", "enum": SCOPES, "default": "this",
                "description": "With an occurrence: only it, it and the later ones, or the whole series.",
            },
            "send_invitations": { "type": "boolean", "default": false, "description": "Whether to email the attendees." },
            "version": { "type": "string", "description": "From get_event. If the event has changed since, nothing changes." },
        })
    }

    async fn run(&self, session: &Session<'_>, arguments: &Arguments) -> Outcome {
        // The result says whether the attendees get an email.
        let target = Target::of(session, arguments, true).await?;
        let informs = arguments.flag("send_invitations")?.unwrap_or(false);
        let asked = json!({
            "id": target.id,
            "scope": target.scope_to_send(),
            "send_invitations": informs,
            "if_match": version(arguments)?,
        });
        let answer = session.call(&operations::DELETE_EVENT, asked).await;
        answer.map_err(|failure| explained(failure, None, false))?;
        let mut done = json!({ "cancelled": target.id });
        if let Some(note) = target.cancelled(informs) {
            done["note"] = note.into();
        }
        Ok(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_that_keeps_changing_is_left_alone() {
        let Failure::Refused(error) = unsteady(json!({ "code": STALE, "message": "stale", "param": "If-Match" }))
        else {
            panic!("it stays refused")
        };
        assert!(error["message"].as_str().unwrap().contains("nothing was changed"), "{error}");
        assert_eq!(error.get("param"), None);
    }
}
