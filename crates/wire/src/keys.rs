//! Keys that speak for one agent.

use kalends_accounts as domain;
use kalends_accounts::KeyLabel;
use kalends_kernel::{AgentId, FieldErrors, KeyId, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A key that speaks for one agent. Its text was shown when it was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ScopedKey {
    /// `key_…`
    #[schema(value_type = String, example = "key_01jn8r6v9ke0bt3m5qz2c7xwdh")]
    pub id: KeyId,
    /// The first 20 characters, to tell keys apart.
    #[schema(example = "svc_ak_Zk9wQm7cXb2dR")]
    pub key_prefix: String,
    /// The agent that it speaks for.
    #[schema(value_type = String, example = "agt_01jn8r6v9ke0bt3m5qz2c7xwdh")]
    pub agent_id: AgentId,
    /// What it is called; null where it has no name.
    #[schema(example = "laptop")]
    pub label: Option<String>,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

/// A fresh key that speaks for one agent, with its text, which is shown this once.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
pub struct NewScopedKey {
    /// `key_…`
    #[schema(value_type = String, example = "key_01jn8r6v9ke0bt3m5qz2c7xwdh")]
    pub id: KeyId,
    /// The key itself. Keep it: it is not shown again.
    #[schema(example = "svc_ak_Zk9wQm7cXb2dRt5yHn1vLs8pGf3jKe6aUi4oWqMxEzT")]
    pub key: String,
    /// The first 20 characters, to tell keys apart.
    #[schema(example = "svc_ak_Zk9wQm7cXb2dR")]
    pub key_prefix: String,
    /// The agent that it speaks for.
    #[schema(value_type = String, example = "agt_01jn8r6v9ke0bt3m5qz2c7xwdh")]
    pub agent_id: AgentId,
    /// What it is called; null where it has no name.
    #[schema(example = "laptop")]
    pub label: Option<String>,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

/// All keys of an organization that speak for agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ScopedKeys {
    /// The keys, the oldest first.
    pub keys: Vec<ScopedKey>,
}

/// A key to be made.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateScopedKey {
    /// The agent for which it shall speak.
    #[schema(example = "agt_01jn8r6v9ke0bt3m5qz2c7xwdh")]
    pub agent_id: String,
    /// What it is called: 1-100 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 100, example = "laptop")]
    pub label: Option<String>,
}

impl From<domain::ScopedKey> for ScopedKey {
    fn from(key: domain::ScopedKey) -> Self {
        Self {
            id: key.id,
            key_prefix: key.prefix,
            agent_id: key.agent,
            label: key.label.map(|label| label.as_str().to_owned()),
            created_at: key.created_at,
        }
    }
}

impl From<Vec<domain::ScopedKey>> for ScopedKeys {
    fn from(keys: Vec<domain::ScopedKey>) -> Self {
        Self { keys: keys.into_iter().map(Into::into).collect() }
    }
}

impl NewScopedKey {
    /// The key with its text.
    pub fn new(fresh: &domain::NewScopedKey) -> Self {
        let ScopedKey { id, key_prefix, agent_id, label, created_at } = fresh.key.clone().into();
        Self { id, key: fresh.text.clone(), key_prefix, agent_id, label, created_at }
    }
}

impl CreateScopedKey {
    /// The agent's identifier as the caller wrote it, and the label.
    ///
    /// # Errors
    /// Names every field at fault.
    pub fn parse(self) -> Result<(String, Option<KeyLabel>), FieldErrors> {
        let label = self.label.as_deref().map(|label| KeyLabel::parse("label", label)).transpose()?;
        Ok((self.agent_id, label))
    }
}
