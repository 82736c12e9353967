//! Changing and cancelling events, occurrences and series.

use async_trait::async_trait;
use kalends_app::operations;
use kalends_calendars::Occurrence;
use kalends_kernel::FieldError;
use kalends_time::Zone;
use serde_json::{Value, json};

use super::{
    arguments::Arguments,
    compact,
    event_arguments::{Times, attendees, copy, has_local_times, rule, version},
    failure::{Failure, Outcome},
    one_event::{explained, written},
    session::Session,
    tool::{About, CoreTool, Effect},
};

/// The arguments with which an event may block other times than before.
const PLACING: [&str; 5] = ["start", "end", "duration_minutes", "recurrence_rule", "status"];
const SCOPES: [&str; 3] = ["this", "following", "all"];

/// `update_event`
pub(super) struct UpdateEvent;

#[async_trait]
impl CoreTool for UpdateEvent {
    fn about(&self) -> About {
        About {
            name: "update_event",
            title: "Change an event",
            description: "Changes the fields that you send, and returns the event with its new version. start alone moves the \
                event and keeps its length. A taken time is refused. For one date of a series, send the event_id of that \
                occurrence from list_events. Nobody gets email unless send_invitations is true. Example: {\"event_id\": \
                \"evt_...\", \"start\": \"2026-03-05T15:00\"}",
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
                "description": "Replaces the list: who is missing is removed. As in create_event.",
            },
            "recurrence_rule": { "type": "string", "description": "The new rule, such as FREQ=WEEKLY;BYDAY=MO." },
            "status": { "type": "string", "enum": ["confirmed", "tentative", "cancelled"] },
            "allow_conflict": { "type": "boolean", "default": false, "description": "Whether it may take a time that is taken." },
            "send_invitations": { "type": "boolean", "default": false, "description": "Whether to email the attendees." },
            "version": { "type": "string", "description": "From get_event. If the event is another by now, nothing changes." },
        })
    }

    async fn run(&self, session: &Session<'_>, arguments: &Arguments) -> Outcome {
        arguments.without_empty()?;
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
        let mut asked = json!({
            "id": target.id,
            "scope": target.scope_to_send(),
            "start_time": times.start,
            "end_time": times.end,
            "attendees": attendees(arguments)?,
            "recurrence_timezone": rule.as_ref().and_then(|_| target.zone_of_new_series(written_in)),
            "recurrence_rule": rule,
            // A renamed event may still overlap others.
            "if_free": (places && !allowed).then_some(true),
            "send_invitations": arguments.flag("send_invitations")?,
            "if_match": version(arguments)?,
        });
        copy(arguments, &["title", "description", "location", "conference_url", "status"], &mut asked)?;
        let answer = session.call(&operations::UPDATE_EVENT, asked).await;
        let answer = answer.map_err(|failure| explained(failure, zone, allowed))?;
        let notes = [target.split(&answer.body), lost_exceptions(before, &answer.body)];
        Ok(written(&answer, named, &notes.into_iter().flatten().collect::<Vec<_>>()))
    }
}

/// `cancel_event`
pub(super) struct CancelEvent;

#[async_trait]
impl CoreTool for CancelEvent {
    fn about(&self) -> About {
        About {
            name: "cancel_event",
            title: "Cancel an event",
            description: "Removes an event, an occurrence or a series for good. For one date of a series, send the event_id of \
                that occurrence from list_events; scope says whether the later ones or all go too. Nobody gets email unless \
                send_invitations is true. Holds: use release_hold. Example: {\"event_id\": \"evt_..._20260305T090000Z\"}",
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
            "version": { "type": "string", "description": "From get_event. If the event is another by now, nothing changes." },
        })
    }

    async fn run(&self, session: &Session<'_>, arguments: &Arguments) -> Outcome {
        let target = Target::of(session, arguments, false).await?;
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

/// The event that a call changes.
struct Target {
    id: String,
    /// Whether the id is that of an occurrence.
    is_occurrence: bool,
    scope: Option<String>,
    /// The event as it was. Null if the call did not have to read it.
    before: Value,
}

impl Target {
    /// The event of the arguments. It is read if it may be a series, or if the times need it.
    async fn of(session: &Session<'_>, arguments: &Arguments, times_need_it: bool) -> Result<Self, Failure> {
        let id = arguments.needed("event_id")?.trim().to_owned();
        let scope = scope(arguments)?;
        let is_occurrence = id.parse::<Occurrence>().is_ok();
        let mut before = Value::Null;
        if !is_occurrence || times_need_it {
            before = session.call(&operations::GET_EVENT, json!({ "id": id })).await?.body;
        }
        let target = Self { id, is_occurrence, scope, before };
        target.checked()?;
        Ok(target)
    }

    /// A change of a whole series must say so, because a model may mean one of its occurrences.
    fn checked(&self) -> Result<(), FieldError> {
        let rule = self.before["recurrenceRule"].as_str();
        let Some(rule) = rule.filter(|_| self.scope.as_deref() != Some("all")) else { return Ok(()) };
        let message = format!(
            "is a whole series ({rule}): for one occurrence, or it and the later ones, send the event_id of that \
             occurrence, which list_events returns; for all occurrences, send scope: \"all\""
        );
        Err(FieldError::new("event_id", message))
    }

    /// The operations take a scope only with an occurrence.
    fn scope_to_send(&self) -> Option<&str> {
        self.scope.as_deref().filter(|_| self.is_occurrence)
    }

    /// The zone of the series that a one-off event becomes by a rule: the one in which its times were written, or else its
    /// calendar's, so that the series keeps its local time. An all-day series follows it by itself.
    fn zone_of_new_series<'a>(&'a self, written_in: Option<&'a str>) -> Option<&'a str> {
        let is_once = !self.is_occurrence && self.before["recurrenceRule"].is_null() && self.before["allDay"] != true;
        written_in.or_else(|| self.before["local"]["timezone"].as_str()).filter(|_| is_once)
    }

    /// What to know if the answer is the second half of a series.
    fn split(&self, after: &Value) -> Option<String> {
        let new = after["id"].as_str().filter(|new| self.is_occurrence && !self.id.starts_with(new))?;
        Some(format!(
            "The old series ends before this occurrence. {new} is a new series, and the event_ids of this and the later \
             occurrences are others now: list_events returns them."
        ))
    }

    /// What else to know after the event was cancelled.
    fn cancelled(&self, informs: bool) -> Option<String> {
        let is_series = self.before["recurrenceRule"].is_string();
        let what = match self.scope_to_send() {
            Some("following") => Some("This occurrence and all later ones are cancelled.".to_owned()),
            Some("all") => Some("All occurrences of the series are cancelled.".to_owned()),
            _ => is_series.then(|| "All occurrences of the series are cancelled.".to_owned()),
        };
        let attendees = self.before["attendees"].as_array().map(Vec::len).filter(|count| *count > 0 && !informs);
        let mail = attendees.map(|count| format!("No email went to its attendees ({count})."));
        let sentences: Vec<String> = what.into_iter().chain(mail).collect();
        (!sentences.is_empty()).then(|| sentences.join(" "))
    }
}

fn scope(arguments: &Arguments) -> Result<Option<String>, FieldError> {
    let Some(scope) = arguments.text("scope")? else { return Ok(None) };
    if SCOPES.contains(&scope.as_str()) {
        return Ok(Some(scope));
    }
    Err(FieldError::new("scope", format!("must be {}; got {scope:?}", SCOPES.join(", "))))
}

/// What a series lost because its starts are others now. A series that was changed by its own id keeps only the
/// cancelled and changed occurrences that still match a start.
fn lost_exceptions(before: &Value, after: &Value) -> Option<String> {
    let is_same = |field: &str| before[field] == after[field];
    if !before["recurrenceRule"].is_string() || (is_same("startTime") && is_same("recurrenceRule")) {
        return None;
    }
    let exdates = |event: &Value| event["recurrenceExdates"].as_array().cloned().unwrap_or_default();
    let kept = exdates(after);
    let lost = exdates(before).iter().filter(|start| !kept.contains(start)).count();
    if is_same("startTime") && lost == 0 {
        return None;
    }
    let revived = match lost {
        0 => String::new(),
        lost => format!(" {lost} cancelled before may take place again: look at list_events and cancel them again."),
    };
    Some(format!(
        "The series has other starts now. Occurrences that were changed on their own follow the series again.{revived} To \
         keep such exceptions, move a series by the id of an occurrence, with scope all."
    ))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const SERIES: &str = "evt_00000000000000000000000001";
    const OCCURRENCE: &str = "evt_00000000000000000000000001_20260302T090000Z";

    fn target(id: &str, scope: Option<&str>, before: Value) -> Target {
        let is_occurrence = id.parse::<Occurrence>().is_ok();
        Target { id: id.to_owned(), is_occurrence, scope: scope.map(str::to_owned), before }
    }

    fn series() -> Value {
        json!({ "recurrenceRule": "FREQ=DAILY", "local": { "timezone": "Europe/Berlin" } })
    }

    #[rstest]
    #[case::series(SERIES, None, series(), false)]
    #[case::series_this(SERIES, Some("this"), series(), false)]
    #[case::series_following(SERIES, Some("following"), series(), false)]
    #[case::series_all(SERIES, Some("all"), series(), true)]
    #[case::one_off(SERIES, None, json!({ "recurrenceRule": null }), true)]
    #[case::occurrence(OCCURRENCE, None, Value::Null, true)]
    fn a_series_changes_only_if_all_is_meant(
        #[case] id: &str,
        #[case] scope: Option<&str>,
        #[case] before: Value,
        #[case] expected: bool,
    ) {
        let checked = target(id, scope, before).checked();
        assert_eq!(checked.is_ok(), expected, "{checked:?}");
        assert!(checked.err().is_none_or(|error| error.message.contains("list_events")));
    }

    #[test]
    fn a_scope_is_sent_with_an_occurrence() {
        assert_eq!(target(SERIES, Some("all"), series()).scope_to_send(), None);
        assert_eq!(target(OCCURRENCE, Some("all"), Value::Null).scope_to_send(), Some("all"));
    }

    #[test]
    fn a_new_series_follows_its_calendar() {
        let once = json!({ "recurrenceRule": null, "local": { "timezone": "Europe/Berlin" } });
        assert_eq!(target(SERIES, None, once.clone()).zone_of_new_series(None), Some("Europe/Berlin"));
        assert_eq!(target(SERIES, None, once).zone_of_new_series(Some("Asia/Tokyo")), Some("Asia/Tokyo"));
        assert_eq!(target(SERIES, Some("all"), series()).zone_of_new_series(None), None);
    }

    #[test]
    fn a_split_is_noted() {
        let split = |new: &str| target(OCCURRENCE, Some("following"), Value::Null).split(&json!({ "id": new }));
        assert!(split("evt_00000000000000000000000002").is_some());
        assert_eq!((split(SERIES), split(OCCURRENCE)), (None, None));
    }

    #[test]
    fn exceptions_that_end_with_a_move_are_noted() {
        let series = |start: &str, exdates: Value| json!({ "recurrenceRule": "FREQ=DAILY", "startTime": start, "recurrenceExdates": exdates });
        let before = series("2026-03-05T09:00:00Z", json!(["2026-03-06T09:00:00Z"]));
        let moved = lost_exceptions(&before, &series("2026-03-05T10:00:00Z", json!([]))).unwrap();
        assert!(moved.contains("1 cancelled"), "{moved}");
        assert_eq!(lost_exceptions(&before, &before), None);
        assert_eq!(lost_exceptions(&Value::Null, &before), None);
    }

    #[rstest]
    #[case(SERIES, Some("all"), json!({ "recurrenceRule": "FREQ=DAILY" }), false, Some("All occurrences"))]
    #[case(OCCURRENCE, Some("following"), Value::Null, false, Some("later ones"))]
    #[case(OCCURRENCE, None, Value::Null, false, None)]
    #[case(SERIES, None, json!({ "attendees": [{}] }), false, Some("No email"))]
    #[case(SERIES, None, json!({ "attendees": [{}] }), true, None)]
    fn a_cancellation_says_what_else_it_did(
        #[case] id: &str,
        #[case] scope: Option<&str>,
        #[case] before: Value,
        #[case] informs: bool,
        #[case] says: Option<&str>,
    ) {
        let note = target(id, scope, before).cancelled(informs);
        assert_eq!(note.is_some(), says.is_some(), "{note:?}");
        assert!(says.is_none_or(|says| note.unwrap().contains(says)));
    }
}
