//! Holding a time while somebody decides.

use std::collections::BTreeSet;

use async_trait::async_trait;
use kalends_accounts::Scope;
use kalends_app::operations;
use kalends_calendars::HOLD_SET_MAX;
use kalends_kernel::FieldError;
use kalends_time::{SignedDuration, Timestamp, Zone};
use serde_json::{Value, json};

use super::{
    arguments::Arguments,
    compact,
    directory::{self, CALENDARS, Whose},
    failure::{Failure, Outcome},
    past_holds::{End, ended_before, holds, is_set},
    session::Session,
    times,
    tool::{About, CoreTool, Effect},
};

/// How long a hold lasts unless the call says otherwise, in minutes.
const LASTS: u32 = 10;
/// How many sets are searched for the one of an earlier call. An agent has fewer live ones on calendars of others.
const SETS: usize = 200;
/// The argument that names a hold or a set, and the other names that models use for it.
const IDS: [&str; 3] = ["hold_id", "hold_set_id", "event_id"];
/// The code of the error about an idempotency key that an earlier, different request had.
const MISMATCH: &str = "idempotency_mismatch";

const OTHER_HOLD: &str = "This idempotency_key was used before, and its hold is over, confirmed, or another one: see \
    list_events. For a new hold, send another key.";

const PERHAPS_THIS_SET: &str = "If the earlier call named the same participants, its set is hold_set_id: call confirm_hold \
    or release_hold. Otherwise call hold_time with another idempotency_key.";

/// `hold_time`
pub(super) struct HoldTime;

#[async_trait]
impl CoreTool for HoldTime {
    fn about(&self) -> About {
        About {
            name: "hold_time",
            title: "Hold a time",
            description: "Keeps a free time on the calendar of each participant while somebody decides: on all of them \
                or on none. It ends by itself. If events or holds block it, the error lists them and the nearest free \
                times; working hours do not count. Then call confirm_hold or release_hold with the id. Example: \
                {\"title\": \"Kick-off\", \"participants\": [\"Ada\", \"Bob\"], \"start\": \"2026-03-05T14:00\", \
                \"duration_minutes\": 30, \"timezone\": \"Europe/Berlin\"}",
            effect: Effect::Adds,
            operations: &[&operations::CREATE_EVENT, &operations::CREATE_HOLD_SET],
            required: &["title", "start"],
            renamed: &[
                ("cal_id", CALENDARS),
                ("agent_ids", "participants"),
                ("start_time", "start"),
                ("end_time", "end"),
                ("hold_expires_at", "expires_in_minutes"),
            ],
        }
    }

    fn properties(&self) -> Value {
        json!({
            "title": { "type": "string" },
            "start": { "type": "string", "description": "A local time, or one with an offset. Not in the past." },
            "duration_minutes": { "type": "integer", "minimum": 1, "description": "Or send end." },
            "end": { "type": "string" },
            "participants": {
                "type": "array", "items": { "type": "string" }, "maxItems": HOLD_SET_MAX,
                "description": "Ids or names of agents with one calendar, or of shared calendars (rooms). Left out: the key's own agent.",
            },
            "calendar_ids": {
                "type": "array", "items": { "type": "string" }, "maxItems": HOLD_SET_MAX,
                "description": "Calendars, instead of participants or besides them.",
            },
            "expires_in_minutes": { "type": "integer", "minimum": 1, "maximum": 15, "default": LASTS },
            "timezone": { "type": "string", "description": "IANA zone of local times. The calendar's if left out." },
            "idempotency_key": { "type": "string", "description": "Send the same one if you repeat the call." },
        })
    }

    async fn run(&self, session: &Session<'_>, arguments: &Arguments) -> Outcome {
        let title = arguments.needed("title")?;
        let minutes = arguments.number("expires_in_minutes")?.unwrap_or(LASTS);
        let idempotency_key = arguments.text("idempotency_key")?;
        let (places, zone) = places(session, arguments).await?;
        let (start, end) = times::span(arguments, zone)?;
        let now = session.now();
        if start < now {
            return Err(FieldError::new("start", format!("has passed; now is {now}")).into());
        }
        let mut asked = json!({
            "title": title,
            "start_time": start.to_string(),
            "end_time": end.to_string(),
            "hold_expires_at": (now + SignedDuration::minutes(minutes.into())).to_string(),
            "idempotency_key": idempotency_key,
        });
        let operation = if let ([only], true) = (places.calendars.as_slice(), places.are_own) {
            asked["cal_id"] = only.as_str().into();
            asked["status"] = "hold".into();
            // Its agent must be free on its other calendars too.
            asked["scope"] = "agent".into();
            &operations::CREATE_EVENT
        } else {
            asked["calendar_ids"] = places.calendars.as_slice().into();
            asked["agent_ids"] = places.agents.as_slice().into();
            &operations::CREATE_HOLD_SET
        };
        let mut answer = session.call(operation, asked.clone()).await;
        if matches!(&answer, Err(Failure::Refused(error)) if error["param"] == "scope") {
            // No agent owns the calendar.
            asked["scope"] = Value::Null;
            answer = session.call(operation, asked).await;
        }
        let mut refused = match answer {
            Ok(answer) => return Ok(placed(&answer.body, zone)),
            Err(Failure::Refused(error)) => error,
            Err(failure) => return Err(failure),
        };
        // A repeated call asks for a later expiry, so that the API takes it for a different request.
        if refused["code"] == MISMATCH {
            let times = (start, end);
            let earlier = if places.are_own {
                earlier(session, &places.calendars, &title, times).await?
            } else {
                earlier_set(session, &places, &title, times).await?
            };
            match earlier {
                Some(earlier) if places.agents.is_empty() => return Ok(placed(&earlier, zone)),
                // Whose calendars the holds of the set are on cannot be seen.
                Some(earlier) => {
                    refused["hold_set_id"] = earlier["id"].clone();
                    refused["next"] = PERHAPS_THIS_SET.into();
                }
                None => {}
            }
            refused["message"] = OTHER_HOLD.into();
        }
        compact::conflict(&mut refused, zone);
        Err(Failure::Refused(refused))
    }
}

/// Where to place holds.
struct Places {
    calendars: Vec<String>,
    /// Agents whose calendars the service finds, because the key cannot read them.
    agents: Vec<String>,
    /// Whether the key may do on all of them what it may do on its own calendars.
    are_own: bool,
}

/// The places to hold, and the zone of local times: that of the call, or of the first calendar.
async fn places(session: &Session<'_>, arguments: &Arguments) -> Result<(Places, Zone), Failure> {
    let mut whose = Whose::of(session, arguments, HOLD_SET_MAX).await?;
    let mut zone = arguments.zone("timezone")?;
    // With the scope, holds can be placed on calendars that the key cannot read.
    let may_hold_others = session.scopes().contains(Scope::HoldsOrg);
    let readable = if may_hold_others { directory::own_calendars(session).await? } else { None };
    let me = session.own_agent().map(|own| own.to_string());
    let mut agents = Vec::new();
    for agent in &whose.agents {
        if readable.is_some() && me.as_ref() != Some(&agent.id) {
            agents.push(agent.id.clone());
            continue;
        }
        // If the agent has several, the error asks for one of them by this argument.
        let own = directory::only_calendar(session, CALENDARS, agent).await?;
        zone = zone.or(Some(own.zone));
        if !whose.calendars.contains(&own.id) {
            whose.calendars.push(own.id);
        }
    }
    let zone = match zone {
        Some(zone) => zone,
        None => whose.zone(session, arguments).await?,
    };
    let is_own = |id: &String| readable.as_ref().is_none_or(|own| own.iter().any(|calendar| calendar.id == *id));
    let are_own = agents.is_empty() && whose.calendars.iter().all(is_own);
    Ok((Places { calendars: whose.calendars, agents, are_own }, zone))
}

/// [`earlier`] for a set with calendars that the key cannot read.
async fn earlier_set(
    session: &Session<'_>,
    places: &Places,
    title: &str,
    (start, end): (Timestamp, Timestamp),
) -> Result<Option<Value>, Failure> {
    let (start, end) = (start.to_string(), end.to_string());
    let asked = json!({ "status": "hold", "limit": SETS });
    let listed = session.call(&operations::LIST_HOLD_SETS, asked).await?.body;
    let is_same = |set: &&Value| {
        let holds = holds(set);
        let held = |id: &String| holds.iter().any(|hold| hold["calendarId"] == *id);
        holds.len() == places.calendars.len() + places.agents.len()
            && places.calendars.iter().all(held)
            && holds.iter().all(|hold| hold["title"] == title && hold["startTime"] == start && hold["endTime"] == end)
    };
    Ok(listed["data"].as_array().into_iter().flatten().find(is_same).cloned())
}

/// The hold or the set that an earlier call with these arguments placed, as the API shows it.
async fn earlier(
    session: &Session<'_>,
    calendars: &[String],
    title: &str,
    (start, end): (Timestamp, Timestamp),
) -> Result<Option<Value>, Failure> {
    let (start, end) = (start.to_string(), end.to_string());
    let asked = json!({ "cal_id": calendars.first(), "start_after": start, "start_before": end, "status": "hold" });
    let listed = session.call(&operations::LIST_EVENTS, asked).await?.body;
    let is_same = |hold: &&Value| {
        let is_of_a_set = hold["holdSetId"].is_string();
        hold["title"] == title
            && hold["startTime"] == start
            && hold["endTime"] == end
            && is_of_a_set == (calendars.len() > 1)
    };
    let Some(hold) = listed["data"].as_array().into_iter().flatten().find(is_same) else { return Ok(None) };
    let Some(set) = hold["holdSetId"].as_str() else { return Ok(Some(hold.clone())) };
    let set = session.call(&operations::GET_HOLD_SET, json!({ "id": set })).await?.body;
    let held: BTreeSet<&str> = holds(&set).iter().filter_map(|hold| hold["calendarId"].as_str()).collect();
    let asked: BTreeSet<&str> = calendars.iter().map(String::as_str).collect();
    Ok((held == asked).then_some(set))
}

/// The result for a hold or a set that was placed.
fn placed(answer: &Value, zone: Zone) -> Value {
    let id = if answer["holds"].is_array() { "hold_set_id" } else { "hold_id" };
    let holds = holds(answer);
    let shown: Vec<Value> = holds.iter().map(|hold| compact::event(hold, Some(zone))).collect();
    json!({
        id: answer["id"],
        "holds": shown,
        "expires_at": holds.first().map(|hold| &hold["holdExpiresAt"]),
        "next": "Call confirm_hold or release_hold with this id before it expires.",
    })
}

/// `confirm_hold`
pub(super) struct ConfirmHold;

#[async_trait]
impl CoreTool for ConfirmHold {
    fn about(&self) -> About {
        About {
            name: "confirm_hold",
            title: "Confirm a hold",
            description: "Turns a hold into an event, or all holds of a set: all or none. Returns them, also if the \
                call is repeated. An expired hold cannot be confirmed: call hold_time again. To take events back, call \
                undo_run: send one run here and to hold_time. Example: {\"hold_id\": \"hst_...\"}",
            effect: Effect::Adds,
            operations: &[&operations::CONFIRM_HOLD, &operations::CONFIRM_HOLD_SET],
            required: &[],
            renamed: &[("id", "hold_id")],
        }
    }

    fn properties(&self) -> Value {
        id_properties()
    }

    async fn run(&self, session: &Session<'_>, arguments: &Arguments) -> Outcome {
        end(session, arguments, End::Confirm).await
    }
}

/// `release_hold`
pub(super) struct ReleaseHold;

#[async_trait]
impl CoreTool for ReleaseHold {
    fn about(&self) -> About {
        About {
            name: "release_hold",
            title: "Release a hold",
            description: "Gives up a hold, or all holds of a set, so that the time is free again. Returns the \
                cancelled holds, also if the call is repeated. Example: {\"hold_id\": \"evt_...\"}",
            effect: Effect::Changes,
            operations: &[&operations::RELEASE_HOLD, &operations::RELEASE_HOLD_SET],
            required: &[],
            renamed: &[("id", "hold_id")],
        }
    }

    fn properties(&self) -> Value {
        id_properties()
    }

    async fn run(&self, session: &Session<'_>, arguments: &Arguments) -> Outcome {
        end(session, arguments, End::Release).await
    }
}

fn id_properties() -> Value {
    json!({
        "hold_id": { "type": "string", "description": "The hold, evt_..., or the set, hst_..., that hold_time returned." },
        "hold_set_id": { "type": "string", "description": "The same as hold_id." },
        "event_id": { "type": "string", "description": "The same as hold_id." },
    })
}

/// Ends a hold or a set. If an earlier call did, the result says so.
async fn end(session: &Session<'_>, arguments: &Arguments, end: End) -> Outcome {
    let id = id(arguments)?;
    let (operation, already) = match (end, is_set(&id)) {
        (End::Confirm, false) => (&operations::CONFIRM_HOLD, "already_confirmed"),
        (End::Confirm, true) => (&operations::CONFIRM_HOLD_SET, "already_confirmed"),
        (End::Release, false) => (&operations::RELEASE_HOLD, "already_released"),
        (End::Release, true) => (&operations::RELEASE_HOLD_SET, "already_released"),
    };
    match session.call(operation, json!({ "id": id })).await {
        Ok(answer) => Ok(ended(&answer.body)),
        Err(Failure::Refused(error)) => {
            let mut found = ended(&ended_before(session, &id, end, error).await?);
            found[already] = true.into();
            Ok(found)
        }
        Err(failure) => Err(failure),
    }
}

fn id(arguments: &Arguments) -> Result<String, FieldError> {
    let mut found: Option<String> = None;
    for name in IDS {
        match (arguments.text(name)?, &found) {
            (Some(id), Some(first)) if id != *first => {
                return Err(FieldError::new(
                    name,
                    format!("must be left out, because {first} is sent too; end one in each call"),
                ));
            }
            (Some(id), _) => found = Some(id),
            (None, _) => {}
        }
    }
    found.ok_or_else(|| FieldError::new("hold_id", "is required; hold_time returns it"))
}

/// What became of the holds. A set may have holds of both kinds, because each one can also be confirmed alone.
fn ended(answer: &Value) -> Value {
    let (cancelled, confirmed): (Vec<_>, Vec<_>) = holds(answer).iter().partition(|hold| hold["status"] == "cancelled");
    let mut found = json!({});
    for (name, holds) in [("confirmed", confirmed), ("cancelled", cancelled)] {
        if !holds.is_empty() {
            found[name] = holds.into_iter().map(|hold| compact::event(hold, None)).collect::<Vec<_>>().into();
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn hold(id: &str, status: &str) -> Value {
        json!({
            "id": id, "title": "Maybe", "startTime": "2026-03-05T09:00:00Z", "endTime": "2026-03-05T10:00:00Z",
            "calendarId": "cal_1", "status": status, "holdExpiresAt": "2026-03-05T08:10:00Z",
        })
    }

    #[test]
    fn a_result_names_the_hold_or_the_set() {
        let one = placed(&hold("evt_1", "hold"), Zone::UTC);
        assert_eq!((&one["hold_id"], &one["holds"][0]["event_id"]), (&json!("evt_1"), &json!("evt_1")));
        assert_eq!(one["expires_at"], "2026-03-05T08:10:00Z");
        let set = placed(&json!({ "id": "hst_1", "holds": [hold("evt_1", "hold"), hold("evt_2", "hold")] }), Zone::UTC);
        assert_eq!((&set["hold_set_id"], set.get("hold_id")), (&json!("hst_1"), None));
        assert_eq!(set["holds"].as_array().unwrap().len(), 2);
        assert_eq!(set["expires_at"], "2026-03-05T08:10:00Z");
    }

    #[test]
    fn ended_holds_are_sorted_by_what_became_of_them() {
        let one = ended(&hold("evt_1", "confirmed"));
        assert_eq!((&one["confirmed"][0]["event_id"], one.get("cancelled")), (&json!("evt_1"), None));
        let set = ended(&json!({ "id": "hst_1", "holds": [hold("evt_1", "confirmed"), hold("evt_2", "cancelled")] }));
        assert_eq!(set["confirmed"][0]["event_id"], "evt_1");
        assert_eq!(set["cancelled"][0]["event_id"], "evt_2");
    }

    #[rstest]
    #[case(json!({ "hold_id": "evt_1" }), Some("evt_1"))]
    #[case(json!({ "hold_set_id": "hst_1" }), Some("hst_1"))]
    #[case(json!({ "event_id": "evt_1" }), Some("evt_1"))]
    #[case(json!({}), None)]
    fn a_hold_is_named_in_three_ways(#[case] given: Value, #[case] expected: Option<&str>) {
        let arguments = Arguments::of(given.as_object().unwrap().clone(), &id_properties(), &[]).unwrap();
        assert_eq!(id(&arguments).ok().as_deref(), expected);
    }
}
