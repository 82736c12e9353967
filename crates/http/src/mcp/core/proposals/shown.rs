//! A proposal as models read it.

use kalends_proposals::{ResponseKind, Score, Weight};
use kalends_time::Zone;
use serde_json::{Value, json};

use crate::mcp::core::compact;

/// A proposal without what a model does not need. Local times are in `zone`.
pub(super) fn short(proposal: &Value, zone: Zone) -> Value {
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
pub(super) fn entries<'a>(of: &'a Value, name: &str) -> &'a [Value] {
    of[name].as_array().map(Vec::as_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::core::proposals::examples::{TEN, berlin, proposal};

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
