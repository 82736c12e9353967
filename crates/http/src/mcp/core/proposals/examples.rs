//! What the tests of proposals begin with.

use kalends_time::Zone;
use serde_json::{Value, json};

use crate::mcp::core::arguments::Arguments;

/// Ten o'clock in Berlin.
pub(super) const TEN: &str = "2026-03-05T09:00:00Z";

pub(super) fn berlin() -> Zone {
    "Europe/Berlin".parse().unwrap()
}

pub(super) fn arguments(given: &Value) -> Arguments {
    let properties = json!({ "times": {}, "expires_at": {}, "expires_in_hours": {}, "idempotency_key": {} });
    Arguments::of(given.as_object().unwrap().clone(), &properties, &[]).unwrap()
}

/// A proposal of Ada, who asks Ben and Cleo about two slots.
pub(super) fn proposal(changed: &Value) -> Value {
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
