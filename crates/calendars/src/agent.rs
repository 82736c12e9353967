//! Agents: software, people or resources that own calendars.

use kalends_kernel::{AgentId, Metadata, OrgId, Version};
use kalends_time::Timestamp;

use crate::{Patch, named_values};

named_values! {
    /// The type of an agent.
    pub enum AgentType {
        /// Software that acts on its own.
        Ai = "ai",
        /// A person.
        Human = "human",
        /// Something that is booked but does not act, such as a room or a car.
        Resource = "resource",
    }
}

named_values! {
    /// The status of an agent.
    pub enum AgentStatus {
        /// The agent is active. Its keys may write.
        Active = "active",
        /// The agent is paused. Its keys may only read.
        Paused = "paused",
        /// The agent and its calendars are gone for good. Its row stays readable.
        Decommissioned = "decommissioned",
    }
}

/// An agent as stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Agent {
    /// The identifier.
    pub id: AgentId,
    /// The owning organization.
    pub org: OrgId,
    /// 1-255 characters.
    pub name: String,
    /// The type.
    pub kind: AgentType,
    /// Free text, if any.
    pub description: Option<String>,
    /// The status.
    pub status: AgentStatus,
    /// The caller's own data.
    pub metadata: Metadata,
    /// The row's version.
    pub version: Version,
    /// When the agent was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// The validated fields of a new agent.
#[derive(Debug, Clone, PartialEq)]
pub struct NewAgent {
    /// 1-255 characters.
    pub name: String,
    /// The type.
    pub kind: AgentType,
    /// Free text, if any.
    pub description: Option<String>,
    /// The caller's own data.
    pub metadata: Metadata,
}

/// The validated changes of a PATCH. `status` is never `decommissioned`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AgentPatch {
    /// A new name.
    pub name: Patch<String>,
    /// A new description; `None` clears it.
    pub description: Patch<Option<String>>,
    /// New metadata, which replaces the old.
    pub metadata: Patch<Metadata>,
    /// `active` or `paused`.
    pub status: Patch<AgentStatus>,
}

/// Why an agent cannot change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AgentError {
    /// Decommissioning cannot be undone.
    #[error("the agent {0} is decommissioned, which cannot be undone; create a new agent instead")]
    Decommissioned(AgentId),
}

impl Agent {
    /// The agent that `new` describes, created at `now`.
    pub fn create(id: AgentId, org: OrgId, new: NewAgent, now: Timestamp) -> Self {
        Self {
            id,
            org,
            name: new.name,
            kind: new.kind,
            description: new.description,
            status: AgentStatus::Active,
            metadata: new.metadata,
            version: Version::FIRST,
            created_at: now,
            updated_at: now,
        }
    }

    /// The agent after `patch`.
    ///
    /// # Errors
    /// [`AgentError::Decommissioned`] if it is decommissioned, because that state is final.
    pub fn patched(&self, patch: AgentPatch, now: Timestamp) -> Result<Self, AgentError> {
        let mut agent = self.living()?.clone();
        patch.name.apply_to(&mut agent.name);
        patch.description.apply_to(&mut agent.description);
        patch.metadata.apply_to(&mut agent.metadata);
        patch.status.apply_to(&mut agent.status);
        agent.version = self.version.next();
        agent.updated_at = now;
        Ok(agent)
    }

    /// The decommissioned agent. Its calendars and events are no longer visible.
    ///
    /// # Errors
    /// [`AgentError::Decommissioned`] if it already is.
    pub fn decommissioned(&self, now: Timestamp) -> Result<Self, AgentError> {
        let mut agent = self.living()?.clone();
        agent.status = AgentStatus::Decommissioned;
        agent.version = self.version.next();
        agent.updated_at = now;
        Ok(agent)
    }

    /// The agent itself, if it is not decommissioned and so may still change and own calendars.
    ///
    /// # Errors
    /// [`AgentError::Decommissioned`] if it is.
    pub fn living(&self) -> Result<&Self, AgentError> {
        match self.status {
            AgentStatus::Active | AgentStatus::Paused => Ok(self),
            AgentStatus::Decommissioned => Err(AgentError::Decommissioned(self.id)),
        }
    }
}
