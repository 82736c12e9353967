//! Writes that wait until a person allows them.

use kalends_kernel::{AgentId, ApprovalId};
use kalends_time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::derives::{IntoParams, ToSchema};

#[cfg(feature = "parse")]
mod parse;

/// The status of an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalStatus {
    /// It waits for a decision.
    Pending,
    /// It was approved, and the request was made.
    Approved,
    /// It was approved, and the request was refused.
    Failed,
    /// It was denied.
    Denied,
    /// The caller cancelled it.
    Cancelled,
    /// Nobody decided it in time.
    Expired,
}

/// The answer to a request that was approved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ApprovalResult {
    /// The HTTP status.
    #[schema(example = 201)]
    pub status: u16,
    /// The body. Null if there is none, or if it is longer than 64 KiB.
    pub body: Option<Value>,
}

/// A write that waits for approval, or did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "id": "apr_01jn8r6v9ke0bt3m5qz2c7xwdh", "status": "pending", "operation": "createEvent",
    "summary": "Create the event “Kick-off” on Monday, 9 March 2026, 10:00 to 10:45 (Europe/Berlin) in the calendar “Ada”.",
    "agent_id": "agt_01jn8r6v9ke0bt3m5qz2c7xwdh", "key_prefix": "svc_ak_Zk9wQm7cXb2dR",
    "created_at": "2026-03-02T08:00:00Z", "expires_at": "2026-03-03T08:00:00Z",
    "decide_url": "https://kalends.example/console/approvals/apr_01jn8r6v9ke0bt3m5qz2c7xwdh"
}))]
pub struct Approval {
    /// The identifier, `apr_…`.
    #[schema(value_type = String)]
    pub id: ApprovalId,
    /// The status.
    pub status: ApprovalStatus,
    /// The `operationId` of the operation that waits.
    pub operation: String,
    /// What would happen, in one sentence.
    pub summary: String,
    /// The agent whose key asked.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// The first 20 characters of the key that asked.
    pub key_prefix: String,
    /// When it was asked for.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it expires, or would have expired. An approval that is about a hold expires with the hold at the latest.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
    /// The page on which a person decides. It asks for a sign-in.
    pub decide_url: String,
    /// When it was decided. Absent until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub decided_at: Option<Timestamp>,
    /// Who decided: the first 20 characters of a key, or of a user's identifier, as in the audit log's
    /// `actor_key_prefix`. Absent until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// Why it was denied. Absent if nobody said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The answer to the request, once it is approved. For `failed`, its body is the error. Absent in lists and webhook
    /// messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<ApprovalResult>,
}

/// The answer to a write that waits for approval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AwaitsApproval {
    /// The approval.
    pub approval: Approval,
}

/// Filters the list of approvals.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListApprovals {
    /// Only those with this status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<ApprovalStatus>,
    /// Only those that keys of this agent asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(example = "agt_01jn8r6v9ke0bt3m5qz2c7xwdh")]
    pub agent_id: Option<String>,
    /// The maximum number of entries per page, 1-200.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(minimum = 1, maximum = 200, default = 50)]
    pub limit: Option<i64>,
    /// The number of entries to skip.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(minimum = 0, default = 0)]
    pub offset: Option<i64>,
}

/// How long to wait for a decision.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct WaitForApproval {
    /// If the approval is pending, waits up to this many seconds for the decision, 0-60.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(minimum = 0, maximum = 60, default = 0)]
    pub wait: Option<i64>,
}

/// The fields of a denial.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DenyApproval {
    /// Why, for the caller: 1-1,000 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 1000, example = "Friday afternoons stay free.")]
    pub reason: Option<String>,
}
