//! Parses the requests into values of the domain, and builds the answers from them.

use kalends_calendars::{self as domain, ports::AgentFilter};
use kalends_kernel::{FieldError, FieldErrors, Metadata, Page, bounded_text, optional_text};

use super::{Agent, AgentName, CreateAgent, ListAgents, ShownAgent, UpdateAgent};
use crate::{
    AgentStatus,
    fields::{metadata, name},
    patch::{nothing_to_change, set, set_or_clear},
};

/// The maximum length of an agent's description, in characters.
const DESCRIPTION_MAX: usize = 5_000;

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

impl ShownAgent {
    /// The agent, or only its name unless the caller sees `all` of it.
    pub fn new(agent: domain::Agent, all: bool) -> Self {
        if all {
            return Self::Whole(Box::new(agent.into()));
        }
        Self::Name(AgentName { id: agent.id, name: agent.name, status: agent.status.into() })
    }
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
