//! Answering a proposal.

use async_trait::async_trait;
use kalends_app::operations;
use kalends_kernel::FieldError;
use kalends_time::{Timestamp, Zone};
use serde_json::{Value, json};

use super::{
    shown::{entries, short},
    slots::{time_schema, times},
};
use crate::mcp::core::{
    arguments::Arguments,
    compact, directory,
    failure::{Failure, Outcome},
    session::Session,
    tool::{About, CoreTool, Effect},
};

/// `respond_to_proposal`
pub(in super::super) struct RespondToProposal;

#[async_trait]
impl CoreTool for RespondToProposal {
    fn about(&self) -> About {
        About {
            name: "respond_to_proposal",
            title: "Answer a proposal",
            description: "Answers a proposal for a participant, once: accept a slot, decline all, or counter with \
                other times (an answer, too; no slot is added: the organizer makes a new proposal). Name the slot by \
                slot_id or by its start. Returns the proposal; the last answer confirms the best slot and returns \
                created_event_ids. Example: {\"proposal_id\": \"spr_...\", \"response\": \"accept\", \"slot_id\": \
                \"slt_...\"}",
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
            "slot_id": { "type": "string", "description": "The slot that you accept, or that is possible beside a counter." },
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::core::proposals::examples::{TEN, berlin, proposal};

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
}
