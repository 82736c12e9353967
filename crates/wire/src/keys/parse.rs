//! Parses the requests into values of the domain, and builds the answers from them.

use std::collections::BTreeSet;

use kalends_accounts as domain;
use kalends_accounts::{ApprovalPolicy, ApprovedWrites, KeyLabel, Scopes};
use kalends_approvals::{APPROVAL_LASTS, APPROVAL_LASTS_MOST};
use kalends_kernel::{FieldError, FieldErrors};
use kalends_time::SignedDuration;

use super::{AllWrites, CreateScopedKey, NewScopedKey, RequiredApproval, Scope, ScopedKey, ScopedKeys};

/// The microseconds of a minute.
const MINUTE: i64 = 60_000_000;

/// A new key, as it is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedKey {
    /// The agent's identifier as written.
    pub agent: String,
    /// The label.
    pub label: Option<KeyLabel>,
    /// What the key reaches beyond its agent.
    pub scopes: Scopes,
    /// Which of its writes need approval. Whether the operations exist is not checked.
    pub approval: Option<ApprovalPolicy>,
}

/// The policy of a key as answers show it.
pub(crate) struct Shown {
    pub(crate) requires_approval: Option<RequiredApproval>,
    pub(crate) approval_expires_in_minutes: Option<i64>,
}

impl Shown {
    pub(crate) fn of(policy: Option<ApprovalPolicy>) -> Self {
        let (requires_approval, approval_expires_in_minutes) =
            policy.map(|policy| (policy.covers.into(), policy.lasts.as_micros() / MINUTE)).unzip();
        Self { requires_approval, approval_expires_in_minutes }
    }
}

impl From<ApprovedWrites> for RequiredApproval {
    fn from(covers: ApprovedWrites) -> Self {
        match covers {
            ApprovedWrites::All => Self::All(AllWrites::Writes),
            ApprovedWrites::Operations(names) => Self::Operations(names.into_iter().collect()),
        }
    }
}

impl From<domain::Scope> for Scope {
    fn from(scope: domain::Scope) -> Self {
        match scope {
            domain::Scope::FreebusyOrg => Self::FreebusyOrg,
            domain::Scope::DirectoryOrg => Self::DirectoryOrg,
            domain::Scope::HoldsOrg => Self::HoldsOrg,
        }
    }
}

impl From<Scope> for domain::Scope {
    fn from(scope: Scope) -> Self {
        match scope {
            Scope::FreebusyOrg => Self::FreebusyOrg,
            Scope::DirectoryOrg => Self::DirectoryOrg,
            Scope::HoldsOrg => Self::HoldsOrg,
        }
    }
}

/// The scopes of a key in answers.
pub(crate) fn listed(scopes: Scopes) -> Vec<Scope> {
    scopes.iter().map(Scope::from).collect()
}

impl From<domain::ScopedKey> for ScopedKey {
    fn from(key: domain::ScopedKey) -> Self {
        let Shown { requires_approval, approval_expires_in_minutes } = Shown::of(key.approval);
        Self {
            id: key.id,
            key_prefix: key.prefix,
            agent_id: key.agent,
            label: key.label.map(|label| label.as_str().to_owned()),
            scopes: listed(key.scopes),
            requires_approval,
            approval_expires_in_minutes,
            created_at: key.created_at,
            created_by: key.created_by,
            last_used_on: key.last_used_on,
        }
    }
}

impl From<Vec<domain::ScopedKey>> for ScopedKeys {
    fn from(keys: Vec<domain::ScopedKey>) -> Self {
        Self { keys: keys.into_iter().map(Into::into).collect() }
    }
}

impl NewScopedKey {
    /// Builds the answer that contains the secret.
    pub fn new(fresh: &domain::NewScopedKey) -> Self {
        let shown = ScopedKey::from(fresh.key.clone());
        Self {
            id: shown.id,
            key: fresh.text.clone(),
            key_prefix: shown.key_prefix,
            agent_id: shown.agent_id,
            label: shown.label,
            scopes: shown.scopes,
            requires_approval: shown.requires_approval,
            approval_expires_in_minutes: shown.approval_expires_in_minutes,
            created_at: shown.created_at,
        }
    }
}

impl CreateScopedKey {
    /// Checks the fields. Whether the operations exist that need approval is not checked.
    ///
    /// # Errors
    /// Lists every invalid field.
    pub fn parse(self) -> Result<WantedKey, FieldErrors> {
        let mut errors = FieldErrors::default();
        let label = errors.take(self.label.as_deref().map(|label| KeyLabel::parse("label", label)).transpose());
        let scopes = errors.take(each_once(self.scopes.unwrap_or_default()));
        let approval = errors.take(policy(self.requires_approval, self.approval_expires_in_minutes));
        match (label, scopes, approval) {
            (Some(label), Some(scopes), Some(approval)) => {
                Ok(WantedKey { agent: self.agent_id, label, scopes, approval })
            }
            _ => Err(errors),
        }
    }
}

/// The policy with these writes, whose approvals wait for this many minutes.
fn policy(covers: Option<RequiredApproval>, minutes: Option<i64>) -> Result<Option<ApprovalPolicy>, FieldError> {
    let most = APPROVAL_LASTS_MOST.as_micros() / MINUTE;
    let (covers, lasts) = match (covers, minutes) {
        (None, None) => return Ok(None),
        (None, Some(_)) => {
            let message = "needs requires_approval; add it, or leave this field out";
            return Err(FieldError::new("approval_expires_in_minutes", message));
        }
        (Some(covers), None) => (covers, APPROVAL_LASTS),
        (Some(covers), Some(minutes)) if (1..=most).contains(&minutes) => (covers, SignedDuration::minutes(minutes)),
        (Some(_), Some(minutes)) => {
            let message = format!("must be 1 to {most} minutes, got {minutes}");
            return Err(FieldError::new("approval_expires_in_minutes", message));
        }
    };
    let covers = match covers {
        RequiredApproval::All(AllWrites::Writes) => ApprovedWrites::All,
        RequiredApproval::Operations(names) => ApprovedWrites::of(BTreeSet::from_iter(names))
            .map_err(|bad| FieldError::new("requires_approval", bad.to_string()))?,
    };
    Ok(Some(ApprovalPolicy { covers, lasts }))
}

fn each_once(given: Vec<Scope>) -> Result<Scopes, FieldError> {
    let mut scopes = Scopes::NONE;
    for (index, scope) in given.into_iter().map(domain::Scope::from).enumerate() {
        if scopes.contains(scope) {
            let message = format!("repeats {}; name each scope once", scope.as_str());
            return Err(FieldError::new(format!("scopes[{index}]"), message));
        }
        scopes = scopes.with(scope);
    }
    Ok(scopes)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::left_out(json!({ "agent_id": "agt_1" }), Ok(Scopes::NONE))]
    #[case::none(json!({ "agent_id": "agt_1", "scopes": [] }), Ok(Scopes::NONE))]
    #[case::in_any_order(
        json!({ "agent_id": "agt_1", "scopes": ["holds:org", "freebusy:org"] }),
        Ok(Scopes::NONE.with(domain::Scope::FreebusyOrg).with(domain::Scope::HoldsOrg))
    )]
    #[case::repeated(json!({ "agent_id": "agt_1", "scopes": ["holds:org", "holds:org"] }), Err("scopes[1]"))]
    fn scopes_are_named_once(#[case] body: serde_json::Value, #[case] expected: Result<Scopes, &str>) {
        let body: CreateScopedKey = serde_json::from_value(body).unwrap();
        match (body.parse(), expected) {
            (Ok(wanted), Ok(expected)) => assert_eq!(wanted.scopes, expected),
            (Err(errors), Err(param)) => assert_eq!(errors.first().param, param),
            (found, expected) => panic!("{found:?} instead of {expected:?}"),
        }
    }

    #[rstest]
    #[case::left_out(json!({ "agent_id": "agt_1" }), Ok(None))]
    #[case::all(json!({ "agent_id": "agt_1", "requires_approval": "writes" }), Ok(Some(("writes", 1_440))))]
    #[case::some(
        json!({
            "agent_id": "agt_1", "requires_approval": ["deleteEvent", "createEvent", "deleteEvent"],
            "approval_expires_in_minutes": 10_080
        }),
        Ok(Some(("createEvent deleteEvent", 10_080)))
    )]
    #[case::none(json!({ "agent_id": "agt_1", "requires_approval": [] }), Err("requires_approval"))]
    #[case::too_long(
        json!({ "agent_id": "agt_1", "requires_approval": "writes", "approval_expires_in_minutes": 10_081 }),
        Err("approval_expires_in_minutes")
    )]
    #[case::no_time(
        json!({ "agent_id": "agt_1", "requires_approval": "writes", "approval_expires_in_minutes": 0 }),
        Err("approval_expires_in_minutes")
    )]
    #[case::nothing_waits(
        json!({ "agent_id": "agt_1", "approval_expires_in_minutes": 5 }),
        Err("approval_expires_in_minutes")
    )]
    fn writes_that_need_approval_are_named(
        #[case] body: serde_json::Value,
        #[case] expected: Result<Option<(&str, i64)>, &str>,
    ) {
        let body: CreateScopedKey = serde_json::from_value(body).unwrap();
        match (body.parse(), expected) {
            (Ok(WantedKey { approval, .. }), Ok(expected)) => {
                let shown = approval.map(|policy| (policy.covers.to_text(), policy.lasts));
                let expected = expected.map(|(covers, minutes)| (covers.to_owned(), SignedDuration::minutes(minutes)));
                assert_eq!(shown, expected);
            }
            (Err(errors), Err(param)) => assert_eq!(errors.first().param, param),
            (found, expected) => panic!("{found:?} instead of {expected:?}"),
        }
    }

    /// The names in JSON are those of the domain.
    #[test]
    fn scopes_have_their_names() {
        for scope in domain::Scope::ALL {
            assert_eq!(serde_json::to_value(Scope::from(scope)).unwrap(), json!(scope.as_str()));
            assert_eq!(domain::Scope::from(Scope::from(scope)), scope);
        }
    }
}
