//! Keys that are scoped to one agent.

use kalends_kernel::{AgentId, KeyId};
use kalends_time::{CivilDate, Timestamp};
use serde::{Deserialize, Serialize};

use crate::derives::ToSchema;

#[cfg(feature = "parse")]
mod parse;
#[cfg(feature = "parse")]
pub use parse::WantedKey;
#[cfg(feature = "parse")]
pub(crate) use parse::{Shown, listed};

/// What an agent's key reaches beyond its own agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub enum Scope {
    /// When the agents and shared calendars of the organization are free or busy.
    #[serde(rename = "freebusy:org")]
    FreebusyOrg,
    /// The names and identifiers of the organization's agents and shared calendars.
    #[serde(rename = "directory:org")]
    DirectoryOrg,
    /// Hold sets on calendars of the organization.
    #[serde(rename = "holds:org")]
    HoldsOrg,
}

/// The writes of a key that need approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged, expecting = "must be \"writes\" or an array of operationIds")]
pub enum RequiredApproval {
    /// All of them.
    All(AllWrites),
    /// Calls of the operations with these `operationId`s.
    Operations(Vec<String>),
}

/// Stands for all writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub enum AllWrites {
    /// All writes.
    #[serde(rename = "writes")]
    Writes,
}

/// A key that is scoped to one agent. The secret itself was shown once, when the key was created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ScopedKey {
    /// The identifier, `key_…`.
    #[schema(value_type = String, example = "key_01jn8r6v9ke0bt3m5qz2c7xwdh")]
    pub id: KeyId,
    /// The first 20 characters of the key, to identify it.
    #[schema(example = "svc_ak_Zk9wQm7cXb2dR")]
    pub key_prefix: String,
    /// The agent that the key is scoped to.
    #[schema(value_type = String, example = "agt_01jn8r6v9ke0bt3m5qz2c7xwdh")]
    pub agent_id: AgentId,
    /// The label. Null if the key has none.
    #[schema(example = "laptop")]
    pub label: Option<String>,
    /// What the key reaches beyond its agent. Absent if it is nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<Scope>,
    /// Which writes of the key need a person's approval: `writes`, or `operationId`s. Absent if none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub requires_approval: Option<RequiredApproval>,
    /// How long an approval waits for a decision, in minutes. Absent if no write needs one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub approval_expires_in_minutes: Option<i64>,
    /// When the key was created.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// The creator: the first 20 characters of a key, or of a user's identifier, as in the audit log's
    /// `actor_key_prefix`. Null for a key of an earlier release.
    #[schema(example = "usr_01jn8r6v9ke0bt3m")]
    pub created_by: Option<String>,
    /// The UTC day on which the key was last accepted. It appears within seconds. Null if no use is recorded: uses
    /// before the release that introduced this field, or by nodes of an earlier release, are not.
    #[schema(value_type = Option<String>, format = Date, example = "2026-03-02")]
    pub last_used_on: Option<CivilDate>,
}

/// A new key that is scoped to one agent. The secret is shown only in this answer.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
pub struct NewScopedKey {
    /// The identifier, `key_…`.
    #[schema(value_type = String, example = "key_01jn8r6v9ke0bt3m5qz2c7xwdh")]
    pub id: KeyId,
    /// The key itself. Store it now: it is not shown again.
    #[schema(example = "svc_ak_Zk9wQm7cXb2dRt5yHn1vLs8pGf3jKe6aUi4oWqMxEzT")]
    pub key: String,
    /// The first 20 characters of the key, to identify it.
    #[schema(example = "svc_ak_Zk9wQm7cXb2dR")]
    pub key_prefix: String,
    /// The agent that the key is scoped to.
    #[schema(value_type = String, example = "agt_01jn8r6v9ke0bt3m5qz2c7xwdh")]
    pub agent_id: AgentId,
    /// The label. Null if the key has none.
    #[schema(example = "laptop")]
    pub label: Option<String>,
    /// What the key reaches beyond its agent. Absent if it is nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<Scope>,
    /// Which writes of the key need a person's approval: `writes`, or `operationId`s. Absent if none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub requires_approval: Option<RequiredApproval>,
    /// How long an approval waits for a decision, in minutes. Absent if no write needs one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub approval_expires_in_minutes: Option<i64>,
    /// When the key was created.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

/// All agent-scoped keys of an organization.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ScopedKeys {
    /// The keys, oldest first.
    pub keys: Vec<ScopedKey>,
}

/// The fields of a new agent-scoped key.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateScopedKey {
    /// The agent that the key is scoped to.
    #[schema(example = "agt_01jn8r6v9ke0bt3m5qz2c7xwdh")]
    pub agent_id: String,
    /// A label, 1-100 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 100, example = "laptop")]
    pub label: Option<String>,
    /// What the key reaches beyond its agent, each scope once. Defaults to nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 3)]
    pub scopes: Option<Vec<Scope>>,
    /// Which writes of the key need a person's approval: `writes`, or 1-200 `operationId`s. Defaults to none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requires_approval: Option<RequiredApproval>,
    /// How long an approval waits for a decision, in minutes. Only with `requires_approval`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 10080, default = 1440)]
    pub approval_expires_in_minutes: Option<i64>,
}
