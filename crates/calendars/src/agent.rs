//! Agents: software, humans or resources that own calendars.

use kalends_kernel::{AgentId, Metadata, OrgId, Timestamp, Version};

use crate::{Patch, named_values};

named_values! {
    /// What an agent is.
    pub enum AgentType {
        /// Software that acts on its own.
        Ai = "ai",
        /// A person.
        Human = "human",
        /// A room, a car: something that is booked but does not act.
        Resource = "resource",
    }
}

named_values! {
    /// Whether an agent acts.
    pub enum AgentStatus {
        /// The agent acts; its keys may write.
        Active = "active",
        /// The agent rests; its keys may only read (ruling 3.7).
        Paused = "paused",
        /// The agent is gone for good, with its calendars; its row stays readable.
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
    /// What the agent is.
    pub kind: AgentType,
    /// Free text, if any.
    pub description: Option<String>,
    /// Whether the agent acts.
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

/// What is needed to create an agent, already checked.
#[derive(Debug, Clone, PartialEq)]
pub struct NewAgent {
    /// 1-255 characters.
    pub name: String,
    /// What the agent is.
    pub kind: AgentType,
    /// Free text, if any.
    pub description: Option<String>,
    /// The caller's own data.
    pub metadata: Metadata,
}

/// What a PATCH changes, already checked. `status` is never `decommissioned`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AgentPatch {
    /// A new name.
    pub name: Patch<String>,
    /// A new description; `None` clears it.
    pub description: Patch<Option<String>>,
    /// New metadata, in place of the old.
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
    /// [`AgentError::Decommissioned`]: nothing follows that state.
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

    /// The agent after its end. Its calendars and events are out of sight from then.
    ///
    /// # Errors
    /// [`AgentError::Decommissioned`] where it already is.
    pub fn decommissioned(&self, now: Timestamp) -> Result<Self, AgentError> {
        let mut agent = self.living()?.clone();
        agent.status = AgentStatus::Decommissioned;
        agent.version = self.version.next();
        agent.updated_at = now;
        Ok(agent)
    }

    /// The agent itself while it may still change and own calendars.
    ///
    /// # Errors
    /// [`AgentError::Decommissioned`].
    pub fn living(&self) -> Result<&Self, AgentError> {
        match self.status {
            AgentStatus::Active | AgentStatus::Paused => Ok(self),
            AgentStatus::Decommissioned => Err(AgentError::Decommissioned(self.id)),
        }
    }
}
