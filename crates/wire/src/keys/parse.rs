//! Parses the requests into values of the domain, and builds the answers from them.

use kalends_accounts as domain;
use kalends_accounts::KeyLabel;
use kalends_kernel::FieldErrors;

use super::{CreateScopedKey, NewScopedKey, ScopedKey, ScopedKeys};

impl From<domain::ScopedKey> for ScopedKey {
    fn from(key: domain::ScopedKey) -> Self {
        Self {
            id: key.id,
            key_prefix: key.prefix,
            agent_id: key.agent,
            label: key.label.map(|label| label.as_str().to_owned()),
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
        let ScopedKey { id, key_prefix, agent_id, label, created_at, .. } = fresh.key.clone().into();
        Self { id, key: fresh.text.clone(), key_prefix, agent_id, label, created_at }
    }
}

impl CreateScopedKey {
    /// Returns the agent's identifier as written, and the label.
    ///
    /// # Errors
    /// Lists every invalid field.
    pub fn parse(self) -> Result<(String, Option<KeyLabel>), FieldErrors> {
        let label = self.label.as_deref().map(|label| KeyLabel::parse("label", label)).transpose()?;
        Ok((self.agent_id, label))
    }
}
