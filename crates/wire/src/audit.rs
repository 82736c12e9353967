//! The audit log.

use std::borrow::Cow;

use kalends_accounts::{self as accounts, Action, AuditCursor, NewKey};
use kalends_kernel::{AgentId, AuditId, FieldError, FieldErrors, Page, RequestId, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{event::instant, schemas::AuditAction};

/// Which part of the audit log.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListAudit {
    /// The first instant, included; absent is as far back as the plan keeps.
    #[param(format = DateTime, example = "2026-03-02T08:00:00Z")]
    pub from: Option<String>,
    /// The first instant after it; absent is now.
    #[param(format = DateTime, example = "2026-03-03T08:00:00Z")]
    pub to: Option<String>,
    /// Entries of this action only, such as `key.create`.
    #[param(value_type = Option<AuditAction>, example = "event.create")]
    pub action: Option<String>,
    /// Entries of one key only: its first 20 characters.
    #[param(max_length = 20, example = "svc_sk_0123456789abc")]
    pub actor_key_prefix: Option<String>,
    /// The `next_cursor` of the page before this one.
    #[param(example = "AQAGTAXnVj0AAZDpDDJ5dNqXv3kTn5dlAA")]
    pub cursor: Option<String>,
    /// The most entries of the page: 1-200.
    #[param(minimum = 1, maximum = 200, default = 50)]
    pub limit: Option<i64>,
}

/// A checked question for the audit log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditQuery {
    /// The first instant.
    pub from: Option<Timestamp>,
    /// The first instant after it.
    pub to: Option<Timestamp>,
    /// Entries of this action only.
    pub action: Option<Action>,
    /// Entries of the key that begins so only.
    pub actor_key_prefix: Option<String>,
    /// Where the page before this one ended.
    pub after: Option<AuditCursor>,
    /// The most entries.
    pub limit: u32,
}

impl ListAudit {
    /// Checks every parameter. Nothing of a key is repeated in what is said of it.
    ///
    /// # Errors
    /// Every parameter at fault.
    pub fn parse(self) -> Result<AuditQuery, FieldErrors> {
        let mut errors = FieldErrors::default();
        let from = errors.take(self.from.as_deref().map(|text| instant("from", text)).transpose());
        let to = errors.take(self.to.as_deref().map(|text| instant("to", text)).transpose());
        let action = errors.take(self.action.as_deref().map(action).transpose());
        let actor_key_prefix = errors.take(self.actor_key_prefix.map(key_prefix).transpose());
        let after = errors.take(self.cursor.as_deref().map(|text| AuditCursor::decode("cursor", text)).transpose());
        let limit = match Page::parse(self.limit, None) {
            Ok(page) => page.limit,
            Err(wrong) => {
                for error in wrong.iter() {
                    let _: Option<()> = errors.take(Err(error.clone()));
                }
                0
            }
        };
        match (from, to, action, actor_key_prefix, after) {
            (Some(from), Some(to), Some(action), Some(actor_key_prefix), Some(after)) => {
                errors.finish()?;
                Ok(AuditQuery { from, to, action, actor_key_prefix, after, limit })
            }
            _ => Err(errors),
        }
    }
}

fn action(name: &str) -> Result<Action, FieldError> {
    Action::from_name(name).ok_or_else(|| {
        let known: Vec<_> = Action::ALL.iter().map(|action| action.as_str()).collect();
        FieldError::new("action", format!("must be one of {}", known.join(", ")))
    })
}

fn key_prefix(text: String) -> Result<String, FieldError> {
    let length = text.chars().count();
    if (1..=NewKey::SHOWN).contains(&length) {
        return Ok(text);
    }
    let message = format!("must be the first {} characters of a key, got {length} characters", NewKey::SHOWN);
    Err(FieldError::new("actor_key_prefix", message))
}

/// An entry of the audit log.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct AuditEntry {
    /// `aud_…`
    #[schema(value_type = String)]
    pub id: AuditId,
    /// What was done.
    #[schema(value_type = AuditAction)]
    pub action: Cow<'static, str>,
    /// The first characters of the key that did it, or of the identifier of the human; null for an operator or a sign-up.
    pub actor_key_prefix: Option<String>,
    /// The agent concerned.
    #[schema(value_type = Option<String>)]
    pub agent_id: Option<AgentId>,
    /// The identifier of what was changed.
    pub resource: String,
    /// The caller's address; null for an operator.
    pub ip: Option<String>,
    /// The status that was answered.
    pub status: u16,
    /// The HTTP method; `CLI` for an operator.
    pub method: String,
    /// The route's template, identifiers replaced.
    pub path: String,
    /// From the request to the commit, in milliseconds.
    pub duration_ms: i64,
    /// The request, as its answer named it.
    #[schema(value_type = String)]
    pub request_id: RequestId,
    /// When it was done.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

impl From<accounts::AuditEntry> for AuditEntry {
    fn from(entry: accounts::AuditEntry) -> Self {
        Self {
            id: entry.id,
            action: entry.action.as_str().into(),
            actor_key_prefix: entry.actor_key_prefix,
            agent_id: entry.agent,
            resource: entry.resource,
            ip: entry.ip.map(|ip| ip.to_string()),
            status: entry.status,
            method: entry.method,
            path: entry.path,
            duration_ms: entry.duration.as_micros() / 1_000,
            request_id: entry.request,
            created_at: entry.created_at,
        }
    }
}

/// A page of the audit log, the newest entry first.
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
    /// Where to go on.
    pub pagination: AuditPagination,
    /// For how many days the plan keeps entries; null is without end.
    pub retention_days: Option<u32>,
    /// Whether `from` was older than what is kept.
    pub range_clamped: bool,
}

/// Where to go on.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct AuditPagination {
    /// The `cursor` of the next page; null at the end.
    pub next_cursor: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_at_fault_is_named_and_no_key_is_repeated() {
        let key = "svc_sk_0123456789abcdefghijklmnopqrstuvwxyz0123456";
        let asked = ListAudit {
            from: Some("yesterday".into()),
            to: Some("2026-03-02".into()),
            action: Some("event.created".into()),
            actor_key_prefix: Some(key.into()),
            cursor: Some("x".into()),
            limit: Some(201),
        };
        let errors = asked.parse().unwrap_err();
        let params: Vec<_> = errors.iter().map(|error| error.param.as_str()).collect();
        assert_eq!(params, ["from", "to", "action", "actor_key_prefix", "cursor", "limit"]);
        assert!(errors.iter().all(|error| !error.message.contains("0123456789")), "{errors:?}");
    }

    #[test]
    fn nothing_has_to_be_asked() {
        let asked = ListAudit::default().parse().unwrap();
        assert_eq!((asked.limit, asked.from, asked.to, asked.after), (50, None, None, None));
    }
}
