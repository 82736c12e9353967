//! Parses the requests into values of the domain, and builds the answers from them.

use kalends_accounts as domain;
use kalends_accounts::{KeyLabel, Scopes};
use kalends_kernel::{FieldError, FieldErrors};

use super::{CreateScopedKey, NewScopedKey, Scope, ScopedKey, ScopedKeys};

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
        Self {
            id: key.id,
            key_prefix: key.prefix,
            agent_id: key.agent,
            label: key.label.map(|label| label.as_str().to_owned()),
            scopes: listed(key.scopes),
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
        let ScopedKey { id, key_prefix, agent_id, label, scopes, created_at, .. } = fresh.key.clone().into();
        Self { id, key: fresh.text.clone(), key_prefix, agent_id, label, scopes, created_at }
    }
}

impl CreateScopedKey {
    /// Returns the agent's identifier as written, the label, and the scopes.
    ///
    /// # Errors
    /// Lists every invalid field.
    pub fn parse(self) -> Result<(String, Option<KeyLabel>, Scopes), FieldErrors> {
        let mut errors = FieldErrors::default();
        let label = errors.take(self.label.as_deref().map(|label| KeyLabel::parse("label", label)).transpose());
        let scopes = errors.take(each_once(self.scopes.unwrap_or_default()));
        match (label, scopes) {
            (Some(label), Some(scopes)) => Ok((self.agent_id, label, scopes)),
            _ => Err(errors),
        }
    }
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
            (Ok((_, _, scopes)), Ok(expected)) => assert_eq!(scopes, expected),
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
