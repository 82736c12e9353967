//! Agents.

use kalends_kernel::{AgentId, OrgId};
use kalends_time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    AgentStatus, AgentType,
    derives::{IntoParams, ToSchema},
    patch::{Given, given},
};

#[cfg(feature = "parse")]
mod parse;

/// An agent.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "id": "agt_01jn8r6v9ke0bt3m5qz2c7xwdh", "orgId": "org_01jn8r6v9ke0bt3m5qz2c7xwdg", "name": "Ada", "type": "ai",
    "description": null, "status": "active", "metadata": {}, "createdAt": "2026-03-02T08:00:00Z",
    "updatedAt": "2026-03-02T08:00:00Z"
}))]
pub struct Agent {
    /// The identifier, `agt_…`.
    #[schema(value_type = String)]
    pub id: AgentId,
    /// The owning organization, `org_…`.
    #[schema(value_type = String)]
    pub org_id: OrgId,
    /// The name, 1-255 characters.
    pub name: String,
    /// The type of the agent.
    pub r#type: AgentType,
    /// A description, as free text.
    pub description: Option<String>,
    /// The status of the agent.
    pub status: AgentStatus,
    /// Your own data.
    #[schema(value_type = Object)]
    pub metadata: Map<String, Value>,
    /// When the agent was created.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When the agent was last changed.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

/// An agent, or only its name if the key sees no more of it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum ShownAgent {
    /// The whole agent.
    Whole(Box<Agent>),
    /// The name of another agent, for an agent's key with the scope `directory:org`.
    Name(AgentName),
}

impl ShownAgent {
    /// The identifier.
    pub fn id(&self) -> AgentId {
        match self {
            Self::Whole(agent) => agent.id,
            Self::Name(agent) => agent.id,
        }
    }

    /// The name.
    pub fn name(&self) -> &str {
        match self {
            Self::Whole(agent) => &agent.name,
            Self::Name(agent) => &agent.name,
        }
    }

    /// The status.
    pub fn status(&self) -> AgentStatus {
        match self {
            Self::Whole(agent) => agent.status,
            Self::Name(agent) => agent.status,
        }
    }

    /// The whole agent; `None` if the key sees only its name.
    pub fn whole(&self) -> Option<&Agent> {
        match self {
            Self::Whole(agent) => Some(agent),
            Self::Name(_) => None,
        }
    }
}

/// The name of an agent.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({ "id": "agt_01jn8r6v9ke0bt3m5qz2c7xwdh", "name": "Ada", "status": "active" }))]
pub struct AgentName {
    /// The identifier, `agt_…`.
    #[schema(value_type = String)]
    pub id: AgentId,
    /// The name.
    pub name: String,
    /// The status of the agent.
    pub status: AgentStatus,
}

/// The fields of a new agent.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "name": "Ada", "type": "ai", "description": "Plans the week" }))]
pub struct CreateAgent {
    /// A name, 1-255 characters.
    #[schema(min_length = 1, max_length = 255)]
    pub name: String,
    /// The type of the agent.
    pub r#type: AgentType,
    /// A description of at most 5,000 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 5000)]
    pub description: Option<String>,
    /// Your own data: an object of at most 16,384 bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Value>,
}

/// The fields of an agent that a PATCH can change. At least one is required.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "status": "paused" }))]
pub struct UpdateAgent {
    /// A new name, 1-255 characters.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false, min_length = 1, max_length = 255)]
    pub name: Given<String>,
    /// A new description. Null clears it.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, max_length = 5000)]
    pub description: Given<String>,
    /// Replaces the metadata as a whole.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>, nullable = false)]
    pub metadata: Given<Value>,
    /// The new status: `active` or `paused`.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<AgentStatus>, nullable = false)]
    pub status: Given<AgentStatus>,
}

/// Filters a list of agents.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListAgents {
    /// Only agents of this type.
    pub r#type: Option<AgentType>,
    /// Only agents with this status.
    pub status: Option<AgentStatus>,
    /// The maximum number of entries per page, 1-200.
    #[param(minimum = 1, maximum = 200, default = 50)]
    pub limit: Option<i64>,
    /// The number of entries to skip.
    #[param(minimum = 0, default = 0)]
    pub offset: Option<i64>,
}
