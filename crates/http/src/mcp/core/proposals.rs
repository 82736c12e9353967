//! Proposals: agents agree on one of several times.

use async_trait::async_trait;
use kalends_app::operations;
use kalends_kernel::FieldError;
use kalends_proposals::{ResponseKind, Score, Weight};
use kalends_time::{SignedDuration, Timestamp, Zone};
use serde_json::{Value, json};

use super::{
    arguments::{Arguments, instant},
    compact,
    directory::{self, Agent},
    failure::{Failure, Outcome},
    session::Session,
    tool::{About, CoreTool, Effect},
};

/// The most hours until a proposal expires, a year.
const HOURS_MAX: u32 = 8_760;
/// What an object of a time may have. Slots in results have `when` too.
const PARTS_OF_A_TIME: [&str; 3] = ["start", "end", "when"];

/// `create_proposal`
pub(super) struct CreateProposal;

#[async_trait]
impl CoreTool for CreateProposal {
    fn about(&self) -> About {
        About {
            name: "create_proposal",
            title: "Propose times",
            description: "Offers several times to agents. Each participant answers once with respond_to_proposal; the last \
                answer confirms the best time, and the organizer and all who did not decline get an event. A time that is \
                taken by then, or that nobody accepted, is not confirmed. Returns the slots and their ids. Example: \
                {\"title\": \"Review\", \"participants\": [\"Ben\"], \"times\": [\"2026-03-05T10:00\", \"2026-03-06T14:00\"], \
                \"duration_minutes\": 30}",
            effect: Effect::Adds,
            operations: &[
                &operations::CREATE_PROPOSAL,
                &operations::GET_AGENT,
                &operations::LIST_AGENTS,
                &operations::GET_CALENDAR,
                &operations::LIST_AGENT_CALENDARS,
            ],
            required: &["title", "participants", "times"],
            renamed: &[
                ("organizer_agent_id", "organizer"),
                ("participant_agent_ids", "participants"),
                ("slots", "times"),
                ("Idempotency-Key", "idempotency_key"),
            ],
        }
    }

    fn properties(&self) -> Value {
        json!({
            "title": { "type": "string" },
            "participants": {
                "type": "array", "items": { "type": "string" },
                "description": "The agents that are asked, by id or name. The organizer answers only if it is named.",
            },
            "times": {
                "type": "array", "items": time_schema(),
                "description": "1-20 starts, local or with an offset, or objects {start, end}.",
            },
            "duration_minutes": { "type": "integer", "minimum": 1, "description": "The length of times without an end." },
            "organizer": {
                "type": "string",
                "description": "An agent's id or name. Default: your own agent, else the first of several participants.",
            },
            "calendar_id": { "type": "string", "description": "The organizer's calendar. Default: its only one." },
            "timezone": { "type": "string", "description": "IANA zone of local times, also in the result. Default: the calendar's." },
            "description": { "type": "string" },
            "min_accepts": {
                "type": "integer", "minimum": 0, "default": 1,
                "description": "How many must accept a time before it can be confirmed.",
            },
            "placement": {
                "type": "string", "enum": ["all", "organizer"], "default": "all",
                "description": "Who gets an event: all who did not decline, or the organizer alone.",
            },
            "expires_at": { "type": "string", "description": "The last moment to answer. Default: the last time's start." },
            "expires_in_hours": { "type": "integer", "minimum": 1, "maximum": HOURS_MAX, "description": "Instead of expires_at." },
            "idempotency_key": { "type": "string", "description": "Repeat a call that had no answer with the same key." },
        })
    }

    async fn run(&self, session: &Session<'_>, arguments: &Arguments) -> Outcome {
        let named = arguments.list("participants")?.unwrap_or_default();
        let participants = directory::agents(session, "participants", &named).await?;
        let organizer = organizer(session, arguments, &participants).await?;
        let (calendar, zone) = calendar(session, arguments, &organizer).await?;
        let expires_at = expiry(arguments, session.now(), zone)?;
        let asked = json!({
            "title": arguments.needed("title")?,
            "description": arguments.text("description")?,
            "organizer_agent_id": organizer.id,
            "participant_agent_ids": participants.into_iter().map(|agent| agent.id).collect::<Vec<_>>(),
            "calendar_id": calendar,
            "slots": times(arguments, "times", zone, arguments.number("duration_minutes")?)?,
            "expires_at": expires_at.map(|at| at.to_string()),
            "skip_taken": true,
            "min_accepts": arguments.number("min_accepts")?.unwrap_or(1),
            "placement": arguments.text("placement")?.unwrap_or_else(|| "all".to_owned()),
            "idempotency_key": arguments.text("idempotency_key")?,
        });
        let created = session.call(&operations::CREATE_PROPOSAL, asked).await?;
        Ok(short(&created.body, zone))
    }
}

/// `respond_to_proposal`
pub(super) struct RespondToProposal;

#[async_trait]
impl CoreTool for RespondToProposal {
    fn about(&self) -> About {
        About {
            name: "respond_to_proposal",
            title: "Answer a proposal",
            description: "Answers a proposal for a participant, once: accept a slot, decline all, or counter with other times, \
                which only inform the organizer: a counter is an answer, too. Name the slot by slot_id or by its start. \
                Returns the proposal; the last answer confirms the best slot and returns created_event_ids. Example: {\"proposal_id\": \"spr_...\", \
                \"response\": \"accept\", \"slot_id\": \"slt_...\"}",
            effect: Effect::Adds,
            operations: &[
                &operations::RESPOND_TO_PROPOSAL,
                &operations::GET_PROPOSAL,
                &operations::GET_AGENT,
                &operations::LIST_AGENTS,
                &operations::LIST_AGENT_CALENDARS,
            ],
            required: &["proposal_id", "response"],
            renamed: &[("id", "proposal_id"), ("selected_slot_id", "slot_id"), ("counter_slots", "counter_times")],
        }
    }

    fn properties(&self) -> Value {
        json!({
            "proposal_id": { "type": "string" },
            "response": { "type": "string", "enum": ["accept", "decline", "counter"] },
            "slot_id": { "type": "string", "description": "The slot that is accepted, or that is possible beside a counter." },
            "start": { "type": "string", "description": "Instead of slot_id: the slot with this start." },
            "agent_id": { "type": "string", "description": "The participant, by id or name. Your own agent if left out." },
            "calendar_id": { "type": "string", "description": "The participant's calendar for its event. Default: its only one." },
            "counter_times": {
                "type": "array", "items": time_schema(),
                "description": "For counter: starts, local or with an offset, or objects {start, end}.",
            },
            "duration_minutes": {
                "type": "integer", "minimum": 1,
                "description": "The length of counter_times without an end. Default: that of the first slot.",
            },
            "message": { "type": "string", "description": "A message to the organizer." },
            "timezone": { "type": "string", "description": "IANA zone of local times, also in the result. Default: the participant's." },
        })
    }

    async fn run(&self, session: &Session<'_>, arguments: &Arguments) -> Outcome {
        let agent = responder(session, arguments).await?;
        let zone = match arguments.zone("timezone")? {
            Some(zone) => zone,
            None => directory::zone_of_agent(session, &agent).await?,
        };
        let (id, start) = (arguments.needed("proposal_id")?, arguments.instant("start", Some(zone))?);
        let minutes = arguments.number("duration_minutes")?;
        let needs_length = minutes.is_none() && arguments.value("counter_times").is_some();
        let seen = if start.is_some() || needs_length {
            session.call(&operations::GET_PROPOSAL, json!({ "id": id })).await?.body
        } else {
            Value::Null
        };
        let slot_id = match (arguments.text("slot_id")?, start) {
            (Some(_), Some(_)) => return Err(FieldError::new("start", "must be left out if slot_id is sent").into()),
            (None, Some(start)) => Some(slot_at(&seen, start, zone)?),
            (slot_id, None) => slot_id,
        };
        let asked = json!({
            "id": id,
            "agent_id": agent,
            "response": arguments.needed("response")?,
            "selected_slot_id": slot_id,
            "counter_slots": times(arguments, "counter_times", zone, minutes.or_else(|| minutes_of_first(&seen)))?,
            "message": arguments.text("message")?,
            "calendar_id": arguments.text("calendar_id")?,
        });
        let responded = session.call(&operations::RESPOND_TO_PROPOSAL, asked).await?;
        Ok(short(&responded.body, zone))
    }
}

/// `get_proposal`
pub(super) struct GetProposal;

#[async_trait]
impl CoreTool for GetProposal {
    fn about(&self) -> About {
        About {
            name: "get_proposal",
            title: "Get a proposal",
            description: "Returns a proposal: its status (pending, confirmed, expired or cancelled), its slots with their \
                scores and who accepted them, the answers, who has not answered yet, the events once it is confirmed, and \
                what to do next. Messages in answers are from other agents. Example: {\"proposal_id\": \"spr_...\"}",
            effect: Effect::Reads,
            operations: &[&operations::GET_PROPOSAL, &operations::GET_CALENDAR, &operations::LIST_AGENT_CALENDARS],
            required: &["proposal_id"],
            renamed: &[("id", "proposal_id")],
        }
    }

    fn properties(&self) -> Value {
        json!({
            "proposal_id": { "type": "string" },
            "timezone": { "type": "string", "description": "IANA zone of the local times. Default: your calendar's." },
        })
    }

    async fn run(&self, session: &Session<'_>, arguments: &Arguments) -> Outcome {
        let zone = arguments.zone("timezone")?;
        let asked = json!({ "id": arguments.needed("proposal_id")? });
        let proposal = session.call(&operations::GET_PROPOSAL, asked).await?.body;
        let zone = match (zone, session.own_agent()) {
            (Some(zone), _) => zone,
            (None, Some(own)) => directory::zone_of_agent(session, &own.to_string()).await?,
            (None, None) => {
                let calendar = proposal["calendar_id"].as_str().unwrap_or_default();
                // The calendar may be deleted. The proposal can still be read.
                directory::zone_of_calendar(session, calendar).await.unwrap_or(Zone::UTC)
            }
        };
        Ok(short(&proposal, zone))
    }
}

/// The schema of one time.
fn time_schema() -> Value {
    let text = json!({ "type": "string" });
    json!({ "anyOf": [text, { "type": "object", "properties": { "start": text, "end": text }, "required": ["start"] }] })
}

/// The organizer of the arguments; else the caller's own agent; else the first of several participants.
async fn organizer(session: &Session<'_>, arguments: &Arguments, participants: &[Agent]) -> Result<Agent, Failure> {
    match (arguments.text("organizer")?, session.own_agent(), participants) {
        (Some(named), _, _) => directory::agent(session, "organizer", named).await,
        (None, Some(own), _) => Ok(Agent { id: own.to_string(), name: own.to_string() }),
        (None, None, [first, _, ..]) => Ok(first.clone()),
        (None, None, _) => {
            Err(FieldError::new("organizer", "is required: the id or the name of the agent that proposes").into())
        }
    }
}

/// The calendar of the organizer, and the zone of local times.
async fn calendar(session: &Session<'_>, arguments: &Arguments, organizer: &Agent) -> Result<(String, Zone), Failure> {
    match (arguments.text("calendar_id")?, arguments.zone("timezone")?) {
        (Some(id), Some(zone)) => Ok((id, zone)),
        (Some(id), None) => {
            let zone = directory::zone_of_calendar(session, &id).await?;
            Ok((id, zone))
        }
        (None, zone) => {
            let only = directory::only_calendar(session, "calendar_id", organizer).await?;
            Ok((only.id, zone.unwrap_or(only.zone)))
        }
    }
}

/// When the proposal expires, if the arguments say it.
fn expiry(arguments: &Arguments, now: Timestamp, zone: Zone) -> Result<Option<Timestamp>, FieldError> {
    let wrong = |message: String| Err(FieldError::new("expires_in_hours", message));
    match (arguments.instant("expires_at", Some(zone))?, arguments.number("expires_in_hours")?) {
        (at, None) => Ok(at),
        (Some(_), Some(_)) => wrong("must be left out if expires_at is sent".to_owned()),
        // The repeated call would mean another time, so it would be refused.
        (None, Some(_)) if arguments.value("idempotency_key").is_some() => {
            wrong("must be left out if idempotency_key is sent; send expires_at instead".to_owned())
        }
        (None, Some(hours)) if (1..=HOURS_MAX).contains(&hours) => Ok(Some(now + SignedDuration::hours(hours.into()))),
        (None, Some(hours)) => wrong(format!("must be 1 to {HOURS_MAX}; got {hours}")),
    }
}

/// The agent that responds: that of the arguments, else the caller's own.
async fn responder(session: &Session<'_>, arguments: &Arguments) -> Result<String, Failure> {
    match (arguments.text("agent_id")?, session.own_agent()) {
        (Some(named), _) => Ok(directory::agent(session, "agent_id", named).await?.id),
        (None, Some(own)) => Ok(own.to_string()),
        (None, None) => {
            Err(FieldError::new("agent_id", "is required: the participant that answers; get_proposal names them")
                .into())
        }
    }
}

/// The times of an argument, as the API takes them. Times without an end last `minutes`.
fn times(
    arguments: &Arguments,
    name: &str,
    zone: Zone,
    minutes: Option<u32>,
) -> Result<Option<Vec<Value>>, FieldError> {
    let Some(entries) = arguments.entries(name) else { return Ok(None) };
    let times = entries.iter().enumerate();
    let times = times.map(|(index, entry)| time(&format!("{name}[{index}]"), entry, zone, minutes));
    times.collect::<Result<_, _>>().map(Some)
}

/// One time: the text of its start, or an object with `start` and `end`.
fn time(name: &str, entry: &Value, zone: Zone, minutes: Option<u32>) -> Result<Value, FieldError> {
    let wrong = || FieldError::new(name, "must be a start such as 2026-03-05T14:00, or an object with start and end");
    let (start, end) = match entry {
        Value::String(start) => (start.as_str(), None),
        Value::Object(parts) if parts.keys().all(|part| PARTS_OF_A_TIME.contains(&part.as_str())) => {
            let start = entry["start"].as_str().ok_or_else(wrong)?;
            let end = Some(&entry["end"]).filter(|end| !end.is_null());
            (start, end.map(|end| end.as_str().ok_or_else(wrong)).transpose()?)
        }
        _ => return Err(wrong()),
    };
    let start = instant(name, start, Some(zone))?;
    let end = match (end, minutes) {
        (Some(end), _) => instant(&format!("{name}.end"), end, Some(zone))?,
        (None, Some(minutes)) => start + SignedDuration::minutes(minutes.into()),
        (None, None) => {
            return Err(FieldError::new("duration_minutes", format!("is required, because {name} has no end")));
        }
    };
    Ok(json!({ "start_time": start.to_string(), "end_time": end.to_string() }))
}

/// The identifier of the only slot of a proposal with that start.
fn slot_at(proposal: &Value, start: Timestamp, zone: Zone) -> Result<String, FieldError> {
    let slots = entries(proposal, "slots");
    let found: Vec<&Value> = slots.iter().filter(|slot| compact::instant(&slot["start_time"]) == Some(start)).collect();
    if let [only] = found.as_slice() {
        return Ok(only["id"].as_str().unwrap_or_default().to_owned());
    }
    let listed: Vec<String> = slots.iter().map(|slot| choice(slot, zone)).collect();
    let message = format!("must be the start of exactly one slot; send the slot_id of one: {}", listed.join(", "));
    Err(FieldError::new("start", message))
}

/// A slot as an error lists it.
fn choice(slot: &Value, zone: Zone) -> String {
    let shown = compact::span(&slot["start_time"], &slot["end_time"], zone);
    let when = shown.get("when").and_then(Value::as_str).unwrap_or_default();
    format!("{} ({when})", slot["id"].as_str().unwrap_or_default())
}

/// The length of a proposal's first slot, in minutes.
fn minutes_of_first(proposal: &Value) -> Option<u32> {
    let slot = &proposal["slots"][0];
    let length = compact::instant(&slot["end_time"])? - compact::instant(&slot["start_time"])?;
    u32::try_from(length.as_seconds() / 60).ok()
}

/// A proposal without what a model does not need. Local times are in `zone`.
fn short(proposal: &Value, zone: Zone) -> Value {
    let responses = entries(proposal, "responses");
    let slots = entries(proposal, "slots");
    let mut short = json!({
        "proposal_id": proposal["id"],
        "title": proposal["title"],
        "status": proposal["status"],
        "organizer": proposal["organizer_agent_id"],
        "participants": proposal["participant_agent_ids"],
        "expires_at": proposal["expires_at"],
        "slots": slots.iter().map(|slot| offered(slot, responses, zone)).collect::<Vec<_>>(),
    });
    for field in ["notices", "reason"] {
        if !proposal[field].is_null() {
            short[field] = proposal[field].clone();
        }
    }
    if !responses.is_empty() {
        short["responses"] = responses.iter().map(|response| answer(response, proposal, zone)).collect();
    }
    if let Some(resolved) = slots.iter().find(|slot| slot["id"] == proposal["resolved_slot_id"]) {
        short["resolved_slot"] = bare(resolved, zone);
        let created = entries(proposal, "created_events");
        short["created_event_ids"] = created.iter().map(|created| created["event_id"].clone()).collect();
    }
    let has_answered = |agent: &Value| responses.iter().any(|response| response["agent_id"] == *agent);
    let waiting: Vec<&Value> =
        entries(proposal, "participant_agent_ids").iter().filter(|agent| !has_answered(agent)).collect();
    if let Some(next) = next(proposal["status"].as_str().unwrap_or_default(), waiting.is_empty()) {
        short["next"] = next.into();
    }
    if proposal["status"] == "pending" && !waiting.is_empty() {
        short["waiting_for"] = waiting.into_iter().cloned().collect();
    }
    short
}

/// A slot: its identifier and its times.
fn bare(slot: &Value, zone: Zone) -> Value {
    let mut shown = compact::span(&slot["start_time"], &slot["end_time"], zone);
    shown.insert("slot_id".to_owned(), slot["id"].clone());
    Value::Object(shown)
}

/// A slot, and what the responses say about it.
fn offered(slot: &Value, responses: &[Value], zone: Zone) -> Value {
    let mut shown = bare(slot, zone);
    if responses.is_empty() {
        return shown;
    }
    let selecting = responses.iter().filter(|response| response["selected_slot_id"] == slot["id"]);
    let accepting = selecting.clone().filter(|response| response["response"] == ResponseKind::Accept.as_str());
    shown["accepted_by"] = accepting.map(|response| response["agent_id"].clone()).collect();
    let weight = slot["weight"].as_f64().and_then(|weight| Weight::parse("weight", weight).ok()).unwrap_or_default();
    let kinds = selecting.filter_map(|response| ResponseKind::from_name(response["response"].as_str()?));
    shown["score"] = Score::new(weight, kinds).as_f64().into();
    shown
}

/// The response of one participant.
fn answer(response: &Value, proposal: &Value, zone: Zone) -> Value {
    let mut shown = json!({ "agent_id": response["agent_id"], "response": response["response"] });
    for (name, field) in [("slot_id", "selected_slot_id"), ("message", "message")] {
        if !response[field].is_null() {
            shown[name] = response[field].clone();
        }
    }
    let others = entries(response, "counter_slots");
    if !others.is_empty() {
        let times = others.iter().map(|time| compact::span(&time["start_time"], &time["end_time"], zone));
        shown["counter_times"] = times.map(Value::Object).collect();
    }
    let created = entries(proposal, "created_events");
    if let Some(created) = created.iter().find(|created| created["agent_id"] == response["agent_id"]) {
        shown["event_id"] = created["event_id"].clone();
    }
    shown
}

/// What to do with a proposal of that status.
fn next(status: &str, is_answered: bool) -> Option<&'static str> {
    match (status, is_answered) {
        ("confirmed", _) => None,
        ("pending", false) => Some(
            "Each agent in waiting_for answers once with respond_to_proposal. The last answer confirms the best slot. To \
             decide sooner: call_operation resolveProposal with the id.",
        ),
        ("pending", true) => Some(
            "Every answer is in, but no slot was confirmed; notices say why. Once a slot is free: call_operation \
             resolveProposal with the id. If none will do: cancelProposal, then create_proposal with other times.",
        ),
        _ => Some("It has ended without an event. create_proposal offers other times."),
    }
}

/// The entries of a list in an answer.
fn entries<'a>(of: &'a Value, name: &str) -> &'a [Value] {
    of[name].as_array().map(Vec::as_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const TEN: &str = "2026-03-05T09:00:00Z";

    fn berlin() -> Zone {
        "Europe/Berlin".parse().unwrap()
    }

    fn arguments(given: &Value) -> Arguments {
        let properties = CreateProposal.properties();
        Arguments::of(given.as_object().unwrap().clone(), &properties, &[]).unwrap()
    }

    /// A proposal of Ada, who asks Ben and Cleo about two slots.
    fn proposal(changed: &Value) -> Value {
        let mut proposal = json!({
            "id": "spr_1", "title": "Review", "description": null, "organizer_agent_id": "agt_ada",
            "participant_agent_ids": ["agt_ben", "agt_cleo"], "calendar_id": "cal_1", "status": "pending",
            "expires_at": "2026-03-06T09:00:00Z", "resolved_slot_id": null, "created_events": [], "reason": null,
            "slots": [
                { "id": "slt_1", "start_time": TEN, "end_time": "2026-03-05T09:30:00Z", "weight": 1.0 },
                { "id": "slt_2", "start_time": "2026-03-06T09:00:00Z", "end_time": "2026-03-06T09:30:00Z", "weight": 2.0 },
            ],
            "responses": [],
        });
        proposal.as_object_mut().unwrap().extend(changed.as_object().unwrap().clone());
        proposal
    }

    #[rstest]
    #[case::start(json!("2026-03-05T10:00"), Some(30), "2026-03-05T09:30:00Z")]
    #[case::object(json!({ "start": "2026-03-05T10:00" }), Some(30), "2026-03-05T09:30:00Z")]
    #[case::null_end(json!({ "start": TEN, "end": null }), Some(30), "2026-03-05T09:30:00Z")]
    #[case::an_end_counts_first(json!({ "start": TEN, "end": "2026-03-05T11:00" }), Some(30), "2026-03-05T10:00:00Z")]
    #[case::slot_of_a_result(json!({ "start": TEN, "end": "2026-03-05T10:00:00Z", "when": "Thu" }), None, "2026-03-05T10:00:00Z")]
    fn times_have_an_end_or_a_length(#[case] sent: Value, #[case] minutes: Option<u32>, #[case] end: &str) {
        let read = times(&arguments(&json!({ "times": [sent] })), "times", berlin(), minutes);
        assert_eq!(read.unwrap(), Some(vec![json!({ "start_time": TEN, "end_time": end })]));
    }

    #[rstest]
    #[case::no_length(json!([TEN]), None, "duration_minutes")]
    #[case::second(json!([TEN, "tomorrow"]), Some(30), "times[1]")]
    #[case::end(json!([{ "start": TEN, "end": "late" }]), Some(30), "times[0].end")]
    #[case::end_of_another_type(json!([{ "start": TEN, "end": 30 }]), Some(30), "times[0]")]
    #[case::other_names(json!([{ "start_time": TEN }]), Some(30), "times[0]")]
    #[case::number(json!([30]), Some(30), "times[0]")]
    fn other_times_are_refused(#[case] sent: Value, #[case] minutes: Option<u32>, #[case] param: &str) {
        let error = times(&arguments(&json!({ "times": sent })), "times", berlin(), minutes).unwrap_err();
        assert_eq!(error.param, param);
    }

    #[rstest]
    #[case::none(json!({}), Ok(None))]
    #[case::at(json!({ "expires_at": "2026-03-05T10:00" }), Ok(Some(TEN)))]
    #[case::hours(json!({ "expires_in_hours": 24 }), Ok(Some(TEN)))]
    #[case::both(json!({ "expires_at": TEN, "expires_in_hours": 1 }), Err("expires_in_hours"))]
    #[case::no_hours(json!({ "expires_in_hours": 0 }), Err("expires_in_hours"))]
    #[case::repeated(json!({ "expires_in_hours": 1, "idempotency_key": "once" }), Err("expires_in_hours"))]
    fn a_proposal_expires(#[case] given: Value, #[case] expected: Result<Option<&str>, &str>) {
        let now = "2026-03-04T09:00:00Z".parse().unwrap();
        let found = expiry(&arguments(&given), now, berlin()).map(|at| at.map(|at| at.to_string()));
        assert_eq!(found.as_ref().map(Option::as_deref).map_err(|error| error.param.as_str()), expected);
    }

    #[test]
    fn a_slot_is_found_by_its_start() {
        let proposal = proposal(&json!({}));
        assert_eq!(slot_at(&proposal, TEN.parse().unwrap(), berlin()).unwrap(), "slt_1");
        let error = slot_at(&proposal, "2026-03-05T09:15:00Z".parse().unwrap(), berlin()).unwrap_err();
        assert_eq!(error.param, "start");
        assert!(error.message.contains("slt_2 (Fri 2026-03-06 10:00-10:30 Europe/Berlin)"), "{}", error.message);
        assert_eq!(minutes_of_first(&proposal), Some(30));
        assert_eq!(minutes_of_first(&Value::Null), None);
    }

    #[test]
    fn a_new_proposal_is_short() {
        let expected = json!({
            "proposal_id": "spr_1", "title": "Review", "status": "pending", "organizer": "agt_ada",
            "participants": ["agt_ben", "agt_cleo"], "expires_at": "2026-03-06T09:00:00Z",
            "slots": [
                {
                    "slot_id": "slt_1", "start": TEN, "end": "2026-03-05T09:30:00Z",
                    "when": "Thu 2026-03-05 10:00-10:30 Europe/Berlin",
                },
                {
                    "slot_id": "slt_2", "start": "2026-03-06T09:00:00Z", "end": "2026-03-06T09:30:00Z",
                    "when": "Fri 2026-03-06 10:00-10:30 Europe/Berlin",
                },
            ],
            "waiting_for": ["agt_ben", "agt_cleo"],
            "next": next("pending", false),
        });
        assert_eq!(short(&proposal(&json!({})), berlin()), expected);
    }

    #[test]
    fn responses_are_shown_at_their_slots() {
        let counter = json!({
            "agent_id": "agt_ben", "response": "counter", "selected_slot_id": "slt_2", "message": "Rather later",
            "counter_slots": [{ "start_time": "2026-03-06T10:00:00Z", "end_time": "2026-03-06T10:30:00Z" }],
        });
        let accept = json!({
            "agent_id": "agt_cleo", "response": "accept", "selected_slot_id": "slt_2", "message": null, "counter_slots": [],
        });
        let notices = json!([{ "code": "too_few_accepts", "message": "too few" }]);
        let pending = short(&proposal(&json!({ "responses": [counter, accept], "notices": notices })), berlin());
        assert_eq!(
            (&pending["slots"][1]["accepted_by"], &pending["slots"][1]["score"]),
            (&json!(["agt_cleo"]), &json!(3.3))
        );
        assert_eq!((&pending["slots"][0]["accepted_by"], &pending["slots"][0]["score"]), (&json!([]), &json!(1.0)));
        assert_eq!((pending.get("waiting_for"), &pending["notices"]), (None, &notices));
        assert!(pending["next"].as_str().unwrap().contains("resolveProposal"));
        let counter = json!({
            "agent_id": "agt_ben", "response": "counter", "slot_id": "slt_2", "message": "Rather later",
            "counter_times": [{
                "start": "2026-03-06T10:00:00Z", "end": "2026-03-06T10:30:00Z",
                "when": "Fri 2026-03-06 11:00-11:30 Europe/Berlin",
            }],
        });
        assert_eq!(pending["responses"][0], counter);
    }

    #[test]
    fn a_confirmed_proposal_names_its_events() {
        let accept = json!({
            "agent_id": "agt_cleo", "response": "accept", "selected_slot_id": "slt_1", "message": null, "counter_slots": [],
        });
        let created = json!([
            { "agent_id": "agt_ada", "event_id": "evt_1" }, { "agent_id": "agt_cleo", "event_id": "evt_2" }
        ]);
        let confirmed = short(
            &proposal(&json!({
                "status": "confirmed", "resolved_slot_id": "slt_1", "responses": [accept], "created_events": created,
            })),
            berlin(),
        );
        assert_eq!(confirmed["resolved_slot"]["slot_id"], "slt_1");
        assert_eq!(confirmed["created_event_ids"], json!(["evt_1", "evt_2"]));
        assert_eq!(confirmed["responses"][0]["event_id"], "evt_2");
        assert_eq!((confirmed.get("waiting_for"), confirmed.get("next")), (None, None));
    }
}
