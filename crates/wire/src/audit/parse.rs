//! Parses the requests into values of the domain, and builds the answers from them.

use kalends_accounts::{self as accounts, Action, AuditCursor, NewKey};
use kalends_kernel::{AgentId, FieldError, FieldErrors, Page};
use kalends_time::Timestamp;

use super::{AuditEntry, ListAudit};
use crate::fields::instant;

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
    /// Only entries that concern this agent.
    pub agent: Option<AgentId>,
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
        let agent = errors.take(self.agent_id.as_deref().map(agent).transpose());
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
        match (from, to, action, actor_key_prefix, agent, after) {
            (Some(from), Some(to), Some(action), Some(actor_key_prefix), Some(agent), Some(after)) => {
                errors.finish()?;
                Ok(AuditQuery { from, to, action, actor_key_prefix, agent, after, limit })
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

fn agent(text: &str) -> Result<AgentId, FieldError> {
    text.parse().map_err(|_| FieldError::new("agent_id", "must be the identifier of an agent, `agt_…`"))
}

fn key_prefix(text: String) -> Result<String, FieldError> {
    let length = text.chars().count();
    if (1..=NewKey::PREFIX_LEN).contains(&length) {
        return Ok(text);
    }
    let message = format!("must be the first {} characters of a key, got {length} characters", NewKey::PREFIX_LEN);
    Err(FieldError::new("actor_key_prefix", message))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_every_invalid_parameter_and_repeat_no_key() {
        let key = "svc_sk_0123456789abcdefghijklmnopqrstuvwxyz0123456";
        let query = ListAudit {
            from: Some("yesterday".into()),
            to: Some("2026-03-02".into()),
            action: Some("event.created".into()),
            actor_key_prefix: Some(key.into()),
            agent_id: Some(key.into()),
            cursor: Some("x".into()),
            limit: Some(201),
        };
        let errors = query.parse().unwrap_err();
        let params: Vec<_> = errors.iter().map(|error| error.param.as_str()).collect();
        assert_eq!(params, ["from", "to", "action", "actor_key_prefix", "agent_id", "cursor", "limit"]);
        assert!(errors.iter().all(|error| !error.message.contains("0123456789")), "{errors:?}");
    }

    #[test]
    fn every_parameter_is_optional() {
        let parsed = ListAudit::default().parse().unwrap();
        assert_eq!((parsed.limit, parsed.from, parsed.to, parsed.after), (50, None, None, None));
    }
}
