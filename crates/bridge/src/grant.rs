//! Grants: for which agents a human's calendars count as busy (ruling 9.2).

use kalends_kernel::{AgentId, Entropy, ExternalCalendarId, GrantId, OrgId, Timestamp, UserId, Version};

/// The most calendars of one grant.
pub const SOURCES_MAX: usize = 50;
/// The most agents that a grant names.
pub const AGENTS_MAX: usize = 500;
/// The most agents that all of them may be for [`Audience::AllCurrent`].
pub const ALL_CURRENT_MAX: u64 = 10_000;

/// For whom the calendars count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Audience {
    /// The agents that the grant names.
    Selected,
    /// The agents that there were when it was made.
    AllCurrent,
    /// Every agent of the organization, and the calendars that it shares.
    All,
}

impl Audience {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::Selected, Self::AllCurrent, Self::All];

    /// The name in the API and in stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Selected => "selected",
            Self::AllCurrent => "all_current",
            Self::All => "all",
        }
    }

    /// The audience of that name.
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
    /// The human whose calendars they are.
    pub human: UserId,
    /// The calendars, in order and each once; one that is gone from its account is gone from here.
    pub sources: Vec<ExternalCalendarId>,
    /// For whom they count.
    pub audience: Audience,
    /// Which agents those are, in order and each once; none where it is [`Audience::All`].
    pub agents: Vec<AgentId>,
    /// The row's version.
    pub version: Version,
    /// When it was made.
    pub created_at: Timestamp,
}

/// What is needed to make a grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewGrant {
    /// The calendars: 1-50.
    pub sources: Vec<ExternalCalendarId>,
    /// For whom they count.
    pub audience: Audience,
    /// The agents: those selected, or all that there are; none for [`Audience::All`].
    pub agents: Vec<AgentId>,
}

impl Grant {
    /// A fresh grant.
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

    /// Whether the calendars count for those of `agent`; `None` is what the organization shares.
    pub fn covers(&self, agent: Option<AgentId>) -> bool {
        match self.audience {
            Audience::All => true,
            Audience::Selected | Audience::AllCurrent => {
                agent.is_some_and(|agent| self.agents.binary_search(&agent).is_ok())
            }
        }
    }
}
