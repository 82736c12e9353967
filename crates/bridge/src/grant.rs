//! Grants: the agents for which human calendars count as busy.

use kalends_kernel::{AgentId, Entropy, ExternalCalendarId, GrantId, OrgId, UserId, Version};
use kalends_time::Timestamp;

/// The maximum number of calendars of one grant.
pub const SOURCES_MAX: usize = 50;
/// The maximum number of agents that a grant names.
pub const AGENTS_MAX: usize = 500;
/// The maximum number of agents of an organization for which [`Audience::AllCurrent`] is allowed.
pub const ALL_CURRENT_MAX: u64 = 10_000;

/// The agents for which the calendars of a grant count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Audience {
    /// The agents that the grant names.
    Selected,
    /// All agents that existed when the grant was made.
    AllCurrent,
    /// Every agent of the organization, and its shared calendars.
    All,
}

impl Audience {
    /// Every audience.
    pub const ALL: &'static [Self] = &[Self::Selected, Self::AllCurrent, Self::All];

    /// The name in the API and in stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Selected => "selected",
            Self::AllCurrent => "all_current",
            Self::All => "all",
        }
    }

    /// The audience with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|audience| audience.as_str() == name)
    }
}

/// A grant, as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// The identifier.
    pub id: GrantId,
    /// The organization.
    pub org: OrgId,
    /// The user who owns the calendars.
    pub human: UserId,
    /// The calendars, in order and each once. A calendar that is gone from its account is removed.
    pub sources: Vec<ExternalCalendarId>,
    /// The audience.
    pub audience: Audience,
    /// The agents of the audience, in order and each once. Empty for [`Audience::All`].
    pub agents: Vec<AgentId>,
    /// The row's version.
    pub version: Version,
    /// When it was made.
    pub created_at: Timestamp,
}

/// The fields of a new grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewGrant {
    /// The calendars: 1-50.
    pub sources: Vec<ExternalCalendarId>,
    /// The audience.
    pub audience: Audience,
    /// The selected agents, or all that exist now for [`Audience::AllCurrent`]. Empty for [`Audience::All`].
    pub agents: Vec<AgentId>,
}

impl Grant {
    /// A new grant.
    pub fn create((org, human): (OrgId, UserId), new: NewGrant, now: Timestamp, entropy: &dyn Entropy) -> Self {
        let NewGrant { mut sources, audience, mut agents } = new;
        sources.sort_unstable();
        sources.dedup();
        agents.sort_unstable();
        agents.dedup();
        Self {
            id: GrantId::new(now, entropy),
            org,
            human,
            sources,
            audience,
            agents,
            version: Version::FIRST,
            created_at: now,
        }
    }

    /// Whether the calendars count for the calendars of `agent`; `None` stands for the shared calendars.
    pub fn covers(&self, agent: Option<AgentId>) -> bool {
        match self.audience {
            Audience::All => true,
            Audience::Selected | Audience::AllCurrent => {
                agent.is_some_and(|agent| self.agents.binary_search(&agent).is_ok())
            }
        }
    }
}
