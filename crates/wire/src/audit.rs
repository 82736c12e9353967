//! The audit log.

use std::borrow::Cow;

use kalends_accounts::{self as accounts, Action, AuditCursor, NewKey};
use kalends_kernel::{AgentId, AuditId, FieldError, FieldErrors, Page, RequestId, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{event::instant, schemas::AuditAction};

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
    /// The `next_cursor` of the previous page.
    #[param(example = "AQAGTAXnVj0AAZDpDDJ5dNqXv3kTn5dlAA")]
    pub cursor: Option<String>,
    /// The maximum number of entries per page, 1-200.
    #[param(minimum = 1, maximum = 200, default = 50)]
    pub limit: Option<i64>,
}

/// A checked query for the audit log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditQuery {
    /// The start of the range, inclusive.
    pub from: Option<Timestamp>,
    /// The end of the range, exclusive.
    pub to: Option<Timestamp>,
    /// Only entries of this action.
    pub action: Option<Action>,
    /// Only entries of the key with this prefix.
    pub actor_key_prefix: Option<String>,
    /// The position at which the previous page ended.
    pub after: Option<AuditCursor>,
    /// The maximum number of entries.
    pub limit: u32,
}

impl ListAudit {
    /// Checks every parameter. The errors never repeat any part of a key.
    ///
    /// # Errors
    /// Lists every invalid parameter.
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
    pub pagination: AuditPagination,
    /// The number of days for which the plan retains entries. Null means forever.
    pub retention_days: Option<u32>,
    /// Whether `from` was before the oldest retained entry.
    pub range_clamped: bool,
}

/// The position of the next page.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct AuditPagination {
    /// The `cursor` of the next page. Null on the last page.
    pub next_cursor: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_every_invalid_parameter_and_repeat_no_key() {
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
    fn every_parameter_is_optional() {
        let asked = ListAudit::default().parse().unwrap();
        assert_eq!((asked.limit, asked.from, asked.to, asked.after), (50, None, None, None));
    }
}
