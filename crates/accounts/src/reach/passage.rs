//! Who may enter, and what a caller who entered may reach.

use kalends_kernel::AgentId;

use super::{
    kinds::{Allowed, CallerKind, Touch},
    table::allowed,
};
use crate::{Scope, Scopes};

/// What decides which rows of the table are open to a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// The kind of credential.
    pub kind: CallerKind,
    /// The scopes of an agent's key.
    pub scopes: Scopes,
}

impl From<CallerKind> for Standing {
    /// Without scopes.
    fn from(kind: CallerKind) -> Self {
        Self { kind, scopes: Scopes::NONE }
    }
}

impl Standing {
    /// Whether the row has something for the caller. It may not be allowed to write there.
    pub const fn opens(self, touch: Touch) -> bool {
        match allowed(self.kind, touch) {
            Allowed::Forbidden | Allowed::Unauthorized => false,
            Allowed::Only(scope) => self.scopes.contains(scope),
            Allowed::Yes
            | Allowed::Reads
            | Allowed::Own
            | Allowed::OwnOr(_)
            | Allowed::IfOrganizer
            | Allowed::IfParticipant
            | Allowed::IfParty => true,
        }
    }
}

/// The caller of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    /// The kind of credential.
    pub kind: CallerKind,
    /// The agent of an agent's key. An agent's key without one reaches nothing.
    pub agent: Option<ScopedAgent>,
    /// Whether the organization is on the waiting list.
    pub waitlisted: bool,
}

/// The agent that an agent's key speaks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ScopedAgent {
    /// The agent.
    pub id: AgentId,
    /// Whether the agent is paused. If so, its keys may only read. (The keys of a decommissioned agent are revoked.)
    pub paused: bool,
    /// What the key reaches beyond its agent.
    pub scopes: Scopes,
}

/// Why a caller is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Denied {
    /// No credential that counts here: 401.
    #[error("the route needs another credential")]
    Unauthorized,
    /// The key does not reach that far: 403 `forbidden`.
    #[error("an agent's key reaches its own agent, and others only through its scopes; use a key of the organization")]
    OutOfReach,
    /// The user's role does not allow it: 403, code `role_too_low`.
    #[error(
        "your role in the organization does not allow this; ask an owner or an admin to do it, or for another role"
    )]
    RoleTooLow,
    /// The agent is paused: 403, code `agent_paused`.
    #[error("the agent is paused, so its keys may only read; set its status to active first")]
    AgentPaused,
    /// The organization is on the waiting list: 403 `account_waitlisted`.
    #[error("the organization is on the waiting list; you get an email when it is activated")]
    Waitlisted,
}

/// What a caller may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a passage has to cover what is read"]
pub enum Passage {
    /// Everything of the organization.
    Everything,
    /// Everything that belongs to the agent.
    OwnedBy(AgentId),
    /// Everything that belongs to the agent, and of what belongs to others only what the scope opens.
    Widened {
        /// The agent.
        own: AgentId,
        /// The scope.
        by: Scope,
    },
    /// Proposals that the agent organizes.
    OrganizedBy(AgentId),
    /// Responses of the agent to proposals in which it takes part.
    RespondedBy(AgentId),
    /// Proposals that the agent organizes or takes part in.
    Concerning(AgentId),
}

/// The resource of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject<'a> {
    /// Something that belongs to an agent; `None` if the organization shares it.
    Of(Option<AgentId>),
    /// When something that belongs to an agent is busy; `None` if the organization shares it.
    BusyTimes(Option<AgentId>),
    /// The name of an agent, or of something that the organization shares (`None`).
    Name(Option<AgentId>),
    /// A hold, as part of a set, that is about to be placed on a calendar that belongs to an agent; `None` if the
    /// organization shares it.
    NewHold(Option<AgentId>),
    /// A hold set with a calendar of another agent, placed by the key of that agent; `None` if no agent's key placed
    /// it.
    PlacedBy(Option<AgentId>),
    /// A proposal, which may be about to be created.
    Proposal {
        /// Its organizer.
        organizer: AgentId,
        /// Its participants.
        participants: &'a [AgentId],
    },
    /// A response to a proposal.
    Response {
        /// The agent that responds.
        by: AgentId,
        /// The proposal's participants.
        participants: &'a [AgentId],
    },
}

/// Checks whether `caller` may do the operation at all. `writes` says whether the operation may change something.
///
/// # Errors
/// In this order: 401, 403 `account_waitlisted`, 403 for the reach of a key or the role of a user, 403 `agent_paused`.
pub fn enter(caller: &Caller, touch: Touch, writes: bool) -> Result<Passage, Denied> {
    let allowed = allowed(caller.kind, touch);
    if allowed == Allowed::Unauthorized {
        return Err(Denied::Unauthorized);
    }
    if caller.waitlisted && !touch.is_open_to_waiting() {
        return Err(Denied::Waitlisted);
    }
    let agent = caller.agent.ok_or(Denied::OutOfReach);
    let too_small = if caller.kind.role().is_some() { Denied::RoleTooLow } else { Denied::OutOfReach };
    let passage = match allowed {
        Allowed::Yes => Passage::Everything,
        Allowed::Reads if writes => return Err(too_small),
        Allowed::Reads => Passage::Everything,
        Allowed::Own => Passage::OwnedBy(agent?.id),
        Allowed::OwnOr(scope) => match agent? {
            agent if agent.scopes.contains(scope) => Passage::Widened { own: agent.id, by: scope },
            agent => Passage::OwnedBy(agent.id),
        },
        Allowed::Only(scope) => match agent? {
            agent if agent.scopes.contains(scope) => Passage::Widened { own: agent.id, by: scope },
            _ => return Err(too_small),
        },
        Allowed::IfOrganizer => Passage::OrganizedBy(agent?.id),
        Allowed::IfParticipant => Passage::RespondedBy(agent?.id),
        Allowed::IfParty => Passage::Concerning(agent?.id),
        Allowed::Forbidden => return Err(too_small),
        Allowed::Unauthorized => return Err(Denied::Unauthorized),
    };
    let paused = caller.kind == CallerKind::AgentKey && caller.agent.is_some_and(|agent| agent.paused);
    if paused && writes && touch != Touch::Public {
        return Err(Denied::AgentPaused);
    }
    Ok(passage)
}

impl Passage {
    /// Checks whether the passage covers the resource that was read.
    ///
    /// # Errors
    /// [`Denied::OutOfReach`] if it does not.
    pub fn covers(self, subject: Subject<'_>) -> Result<(), Denied> {
        let covered = match (self, subject) {
            (Self::Everything, _) => true,
            (
                Self::OwnedBy(own),
                Subject::Of(owner) | Subject::BusyTimes(owner) | Subject::Name(owner) | Subject::NewHold(owner),
            )
            | (Self::Widened { own, .. }, Subject::Of(owner)) => owner == Some(own),
            (Self::Widened { own, by }, Subject::BusyTimes(owner)) => owner == Some(own) || by == Scope::FreebusyOrg,
            (Self::Widened { own, by }, Subject::Name(owner)) => owner == Some(own) || by == Scope::DirectoryOrg,
            (Self::Widened { own, by }, Subject::NewHold(owner)) => owner == Some(own) || by == Scope::HoldsOrg,
            (Self::Widened { own, by: Scope::HoldsOrg }, Subject::PlacedBy(agent)) => agent == Some(own),
            (Self::OrganizedBy(own), Subject::Proposal { organizer, .. }) => organizer == own,
            (Self::Concerning(own), Subject::Proposal { organizer, participants }) => {
                organizer == own || participants.contains(&own)
            }
            (Self::RespondedBy(own), Subject::Response { by, participants }) => {
                by == own && participants.contains(&own)
            }
            (
                Self::OwnedBy(_)
                | Self::Widened { .. }
                | Self::OrganizedBy(_)
                | Self::Concerning(_)
                | Self::RespondedBy(_),
                _,
            ) => false,
        };
        if covered { Ok(()) } else { Err(Denied::OutOfReach) }
    }

    /// The agent that lists are narrowed to; `None` shows everything.
    pub const fn narrowed_to(self) -> Option<AgentId> {
        match self {
            Self::Everything => None,
            Self::OwnedBy(own)
            | Self::Widened { own, .. }
            | Self::OrganizedBy(own)
            | Self::RespondedBy(own)
            | Self::Concerning(own) => Some(own),
        }
    }

    /// The agent of a key with that scope, if the scope matters for the operation. What belongs to others is then shown
    /// as far as the scope says.
    pub fn widened_by(self, scope: Scope) -> Option<AgentId> {
        match self {
            Self::Widened { own, by } if by == scope => Some(own),
            _ => None,
        }
    }
}
