//! Agents.

use kalends_calendars::{self as domain, NAME_MAX, ports::AgentFilter};
use kalends_kernel::{AgentId, FieldError, FieldErrors, Metadata, OrgId, Page, Timestamp, bounded_text, optional_text};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

use crate::{
    AgentStatus, AgentType,
    patch::{Given, given, nothing_to_change, set, set_or_clear},
};

/// The maximum length of an agent's description, in characters.
const DESCRIPTION_MAX: usize = 5_000;

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

impl From<domain::Agent> for Agent {
    fn from(agent: domain::Agent) -> Self {
        Self {
            id: agent.id,
            org_id: agent.org,
            name: agent.name,
            r#type: agent.kind.into(),
            description: agent.description,
            status: agent.status.into(),
            metadata: agent.metadata.into_map(),
            created_at: agent.created_at,
            updated_at: agent.updated_at,
        }
    }
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

impl CreateAgent {
    /// Checks every field.
    ///
    /// # Errors
    /// Lists every invalid field.
    pub fn parse(self) -> Result<domain::NewAgent, FieldErrors> {
        let mut errors = FieldErrors::default();
        let name = errors.take(name(&self.name));
        let description = errors.take(optional_text("description", self.description.as_deref(), DESCRIPTION_MAX));
        let metadata = errors.take(metadata(self.metadata));
        match (name, description, metadata) {
            (Some(name), Some(description), Some(metadata)) => {
                Ok(domain::NewAgent { name, kind: self.r#type.into(), description, metadata })
            }
            _ => Err(errors),
        }
    }
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

impl UpdateAgent {
    /// Checks every field.
    ///
    /// # Errors
    /// Lists every invalid field, or reports that no field was sent.
    pub fn parse(self) -> Result<domain::AgentPatch, FieldErrors> {
        if let Self { name: None, description: None, metadata: None, status: None } = self {
            return Err(nothing_to_change("name, description, metadata, status").into());
        }
        let mut errors = FieldErrors::default();
        let name = errors.take(set("name", self.name, |text| name(&text)));
        let description =
            errors.take(set_or_clear(self.description, |text| bounded_text("description", &text, 0, DESCRIPTION_MAX)));
        let metadata = errors.take(set("metadata", self.metadata, |value| Metadata::parse("metadata", value)));
        let status = errors.take(set("status", self.status, |status| match status {
            AgentStatus::Active | AgentStatus::Paused => Ok(status.into()),
            AgentStatus::Decommissioned => {
                Err(FieldError::new("status", "must be active or paused; decommission an agent with DELETE"))
            }
        }));
        match (name, description, metadata, status) {
            (Some(name), Some(description), Some(metadata), Some(status)) => {
                Ok(domain::AgentPatch { name, description, metadata, status })
            }
            _ => Err(errors),
        }
    }
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

impl ListAgents {
    /// Checks the bounds.
    ///
    /// # Errors
    /// Lists each parameter that is out of bounds.
    pub fn parse(&self) -> Result<(AgentFilter, Page), FieldErrors> {
        let filter = AgentFilter { kind: self.r#type.map(Into::into), status: self.status.map(Into::into) };
        Ok((filter, Page::parse(self.limit, self.offset)?))
    }
}

pub(crate) fn name(text: &str) -> Result<String, FieldError> {
    bounded_text("name", text, 1, NAME_MAX)
}

/// Parses the metadata of a new resource. Absent and null mean the empty object.
pub(crate) fn metadata(value: Option<Value>) -> Result<Metadata, FieldError> {
    value.map_or_else(|| Ok(Metadata::default()), |value| Metadata::parse("metadata", value))
}
