//! The audit log.

use std::borrow::Cow;

use kalends_kernel::{AgentId, AuditId, RequestId};
use kalends_time::Timestamp;
use serde::{Deserialize, Serialize};

#[cfg(feature = "schema")]
use crate::schemas::AuditAction;
use crate::{
    CursorPagination,
    derives::{IntoParams, ToSchema},
};

#[cfg(feature = "parse")]
mod parse;
#[cfg(feature = "parse")]
pub use parse::AuditQuery;

/// Selects a part of the audit log.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListAudit {
    /// The start of the range, inclusive. Defaults to the oldest entry that the plan retains.
    #[param(format = DateTime, example = "2026-03-02T08:00:00Z")]
    pub from: Option<String>,
    /// The end of the range, exclusive. Defaults to now.
    #[param(format = DateTime, example = "2026-03-03T08:00:00Z")]
    pub to: Option<String>,
    /// Only entries of this action, such as `key.create`.
    #[param(value_type = Option<AuditAction>, example = "event.create")]
    pub action: Option<String>,
    /// Only entries of one key, given by its first 20 characters.
    #[param(max_length = 20, example = "svc_sk_0123456789abc")]
    pub actor_key_prefix: Option<String>,
    /// Only entries that concern this agent, `agt_…`.
    #[param(example = "agt_01jn8r6v9ke0bt3m5qz2c7xwdh")]
    pub agent_id: Option<String>,
    /// The `next_cursor` of the previous page.
    #[param(example = "AQAGTAXnVj0AAZDpDDJ5dNqXv3kTn5dlAA")]
    pub cursor: Option<String>,
    /// The maximum number of entries per page, 1-200.
    #[param(minimum = 1, maximum = 200, default = 50)]
    pub limit: Option<i64>,
}

/// An entry of the audit log.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct AuditEntry {
    /// The identifier, `aud_…`.
    #[schema(value_type = String)]
    pub id: AuditId,
    /// The action that was performed.
    #[schema(value_type = AuditAction)]
    pub action: Cow<'static, str>,
    /// The first characters of the key, or of the user's identifier. Null for an operator or a sign-up.
    pub actor_key_prefix: Option<String>,
    /// The agent concerned.
    #[schema(value_type = Option<String>)]
    pub agent_id: Option<AgentId>,
    /// The identifier of the changed resource.
    pub resource: String,
    /// The caller's IP address. Null for an operator.
    pub ip: Option<String>,
    /// The HTTP status of the answer.
    pub status: u16,
    /// The HTTP method; `CLI` for an operator.
    pub method: String,
    /// The route's template, with placeholders for identifiers.
    pub path: String,
    /// The time from the request to the commit, in milliseconds.
    pub duration_ms: i64,
    /// The request's identifier, as in its answer.
    #[schema(value_type = String)]
    pub request_id: RequestId,
    /// When the action was performed.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

/// A page of the audit log, newest entry first.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "data": [{
        "id": "aud_01jn8r8f4h3gyqz7s9c1b5wnkd", "action": "event.create", "actor_key_prefix": "svc_sk_0123456789abc",
        "agent_id": "agt_01jn8r6v9ke0bt3m5qz2c7xwdh", "resource": "evt_01jn8r8f4h3gyqz7s9c1b5wnke",
        "ip": "203.0.113.7", "status": 201, "method": "POST", "path": "/v1/calendars/{cal_id}/events",
        "duration_ms": 4, "request_id": "req_01jn8r6v9ke0bt3m5qz2c7xwdh", "created_at": "2026-03-02T08:00:00Z"
    }],
    "pagination": { "next_cursor": "AQAGTAXnVj0AAZDpDDJ5dNqXv3kTn5dlAA" }, "retention_days": 3, "range_clamped": false
}))]
pub struct AuditLog {
    /// The entries.
    pub data: Vec<AuditEntry>,
    /// The position of the next page.
    pub pagination: CursorPagination,
    /// The number of days for which the plan retains entries. Null means forever.
    pub retention_days: Option<u32>,
    /// Whether `from` was before the oldest retained entry.
    pub range_clamped: bool,
}
