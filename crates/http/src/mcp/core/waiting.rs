//! What a tool returns if one of its writes waits for a person's approval.

use http::StatusCode;
use serde_json::{Value, json};

/// What the caller does next.
const NEXT: &str = "A person decides; decide_url is for them. Call call_operation with operation getApproval and arguments \
    {\"id\": this id, \"wait\": 20}, until status is not pending. Its result is then the answer. Do not repeat this call.";
/// What holds for a tool that had written something before.
const REST: &str = "What done_before lists is done and stays. What this tool would have done after the write that waits is \
    not done, and the approval does not cover it.";

/// A write that an operation made for a tool.
pub(in super::super) struct Written {
    /// The operation.
    pub operation: &'static str,
    /// The resource; null if the answer names none.
    pub id: Value,
}

/// The approval for which a write with this answer waits.
pub(super) fn approval(status: StatusCode, body: &Value) -> Option<&Value> {
    body.get("approval").filter(|approval| status == StatusCode::ACCEPTED && approval.is_object())
}

/// The result of a tool whose write waits for `approval`, after these other writes.
pub(super) fn result(approval: &Value, written: &[Written]) -> Value {
    let mut result = json!({
        "waiting_for_approval": {
            "id": approval["id"],
            "expires_at": approval["expires_at"],
            "summary": approval["summary"],
            "decide_url": approval["decide_url"],
        },
        "next": NEXT,
    });
    if !written.is_empty() {
        let done = written.iter().map(|done| json!({ "operation": done.operation, "id": done.id }));
        result["done_before"] = done.collect();
        result["note"] = REST.into();
    }
    result
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::waits(StatusCode::ACCEPTED, json!({ "approval": { "id": "apr_1" } }), true)]
    #[case::only_accepted(StatusCode::ACCEPTED, json!({ "message": "Thanks" }), false)]
    #[case::named_alike(StatusCode::OK, json!({ "approval": { "id": "apr_1" } }), false)]
    #[case::nothing(StatusCode::NO_CONTENT, Value::Null, false)]
    fn only_an_accepted_write_with_an_approval_waits(
        #[case] status: StatusCode,
        #[case] body: Value,
        #[case] waits: bool,
    ) {
        assert_eq!(approval(status, &body).is_some(), waits);
    }

    #[test]
    fn the_result_names_what_was_done_before() {
        let approval = json!({
            "id": "apr_1", "status": "pending", "expires_at": "2026-03-03T08:00:00Z", "summary": "Delete it.",
            "decide_url": "https://kalends.example/console/approvals/apr_1", "operation": "deleteEvent"
        });
        let alone = result(&approval, &[]);
        let expected = json!({
            "id": "apr_1", "expires_at": "2026-03-03T08:00:00Z", "summary": "Delete it.",
            "decide_url": "https://kalends.example/console/approvals/apr_1"
        });
        assert_eq!(alone["waiting_for_approval"], expected);
        assert!(alone["next"].as_str().is_some_and(|next| next.contains("getApproval")), "{alone:#}");
        assert_eq!((alone.get("done_before"), alone.get("note")), (None, None));
        let moved = Written { operation: "moveEvent", id: json!("evt_1") };
        let after = result(&approval, &[moved]);
        assert_eq!(after["done_before"], json!([{ "operation": "moveEvent", "id": "evt_1" }]));
        assert!(after["note"].as_str().is_some_and(|note| note.contains("not done")), "{after:#}");
    }
}
