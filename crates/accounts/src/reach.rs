//! The access table: which callers may do what.
//!
//! [`TABLE`] is the only place with these rules. An operation declares what it touches ([`Touch`]) and nothing else.
//! [`enter`] decides whether the caller's kind may enter at all, before anything is read. It returns a [`Passage`],
//! whose [`Passage::covers`] decides about a resource once it is read. The documentation prints the table with
//! [`credentials_markdown`] and [`roles_markdown`], and tests check each cell.

use std::fmt::Write;

use kalends_kernel::AgentId;

use crate::{KeyKind, Role, Scope, Scopes};

/// The kind of a caller's credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum CallerKind {
    /// No credential.
    Nobody,
    /// An organization's key, `svc_sk_`.
    OrganizationKey,
    /// The key of an agent that signed up, `svc_sk_`. It has the reach of an organization's key.
    RestrictedKey,
    /// The key of an organization that was created for tests, `svc_sk_test_`.
    TestKey,
    /// An agent's key, `svc_ak_`, or `svc_at_` if a connector holds it.
    AgentKey,
    /// A console session of an owner of the organization.
    Owner,
    /// A console session of an admin.
    Admin,
    /// A console session of a member.
    Member,
    /// A console session of a viewer.
    Viewer,
    /// The operator's token.
    AdminToken,
}

impl CallerKind {
    /// Every kind, in the order of the table's columns.
    pub const ALL: [Self; 10] = [
        Self::Nobody,
        Self::OrganizationKey,
        Self::RestrictedKey,
        Self::TestKey,
        Self::AgentKey,
        Self::Owner,
        Self::Admin,
        Self::Member,
        Self::Viewer,
        Self::AdminToken,
    ];

    /// The name in the documentation.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Nobody => "no credential",
            Self::OrganizationKey => "organization key",
            Self::RestrictedKey => "sign-up key",
            Self::TestKey => "test key",
            Self::AgentKey => "agent key",
            Self::Owner => "owner",
            Self::Admin => "admin",
            Self::Member => "member",
            Self::Viewer => "viewer",
            Self::AdminToken => "admin token",
        }
    }

    /// The caller kind of an organization's key.
    pub const fn of_key(kind: KeyKind) -> Self {
        match kind {
            KeyKind::Org => Self::OrganizationKey,
            KeyKind::Restricted => Self::RestrictedKey,
            KeyKind::Test => Self::TestKey,
        }
    }

    /// The caller kind of a session of a user with that role.
    pub const fn of_role(role: Role) -> Self {
        match role {
            Role::Owner => Self::Owner,
            Role::Admin => Self::Admin,
            Role::Member => Self::Member,
            Role::Viewer => Self::Viewer,
        }
    }

    /// The role of a session's user; `None` if it is not a session.
    pub const fn role(self) -> Option<Role> {
        match self {
            Self::Owner => Some(Role::Owner),
            Self::Admin => Some(Role::Admin),
            Self::Member => Some(Role::Member),
            Self::Viewer => Some(Role::Viewer),
            _ => None,
        }
    }

    /// Whether it is an API key.
    pub const fn is_key(self) -> bool {
        matches!(self, Self::OrganizationKey | Self::RestrictedKey | Self::TestKey | Self::AgentKey)
    }
}

/// What an operation touches. This is the row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Touch {
    /// Routes that need no credential: health, plans, terms, feeds, booking pages by their slug, sign-up, sign-in,
    /// the waiting list, and revoking a claim by its token.
    Public,
    /// The organization as a whole: webhooks, emails, the audit log, verification, and accepting terms.
    Organization,
    /// The organization's agents: creating, changing and removing them, and creating shared calendars.
    Agents,
    /// The list of the organization's agents.
    AgentDirectory,
    /// Agent-scoped keys: listing and revoking.
    Keys,
    /// Creating an agent-scoped key.
    KeyCreation,
    /// Reading the record of one agent.
    AgentRecord,
    /// Everything that belongs to one agent: its calendars with their events, holds, context, rules, iCalendar
    /// subscriptions, booking pages and connection links. Shared calendars belong to no agent.
    AgentData,
    /// The list of calendars.
    CalendarDirectory,
    /// Lists over all agents: booking pages, found events.
    AgentLists,
    /// The availability of one agent or calendar.
    Availability,
    /// The availability of several agents at once.
    JointAvailability,
    /// Hold sets: placing, reading, listing, confirming and releasing them.
    HoldSets,
    /// Reading a proposal.
    ProposalRead,
    /// The list of proposals.
    ProposalList,
    /// Creating, resolving or cancelling a proposal, which only its organizer may do.
    ProposalOrganize,
    /// Responding to a proposal, which only a participant may do.
    ProposalRespond,
    /// Decisions on writes that wait for approval.
    Decisions,
    /// Operations that any key or session may do for its organization: reading usage, sending feedback.
    Common,
    /// A user's own account: their name, password, sessions, claims and connected calendars, accepting an invitation,
    /// and leaving an organization.
    Account,
    /// The organization's members and invitations.
    Members,
    /// What a user does for the organization as a whole: renaming it, accepting terms, and exporting everything.
    Administration,
    /// Creating keys from the console.
    ConsoleKeys,
    /// Deleting the organization.
    Deletion,
    /// The operator's routes.
    Admin,
}

impl Touch {
    /// Every variant, in the order of the table's rows.
    pub const ALL: [Self; 25] = [
        Self::Public,
        Self::Organization,
        Self::Agents,
        Self::AgentDirectory,
        Self::Keys,
        Self::KeyCreation,
        Self::AgentRecord,
        Self::AgentData,
        Self::CalendarDirectory,
        Self::AgentLists,
        Self::Availability,
        Self::JointAvailability,
        Self::HoldSets,
        Self::ProposalRead,
        Self::ProposalList,
        Self::ProposalOrganize,
        Self::ProposalRespond,
        Self::Decisions,
        Self::Common,
        Self::Account,
        Self::Members,
        Self::Administration,
        Self::ConsoleKeys,
        Self::Deletion,
        Self::Admin,
    ];

    /// The name in the documentation.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Public => "public routes",
            Self::Organization => "the organization: webhooks, emails, audit log, terms",
            Self::Agents => "its agents and new shared calendars",
            Self::AgentDirectory => "the list of agents",
            Self::Keys => "keys: list, revoke",
            Self::KeyCreation => "keys: create",
            Self::AgentRecord => "an agent, read",
            Self::AgentData => "an agent's calendars and their contents",
            Self::CalendarDirectory => "the list of calendars",
            Self::AgentLists => "the list of booking pages, searches",
            Self::Availability => "availability of an agent or a calendar",
            Self::JointAvailability => "availability of several agents",
            Self::HoldSets => "hold sets, and runs with their undo",
            Self::ProposalRead => "a proposal, read",
            Self::ProposalList => "the list of proposals",
            Self::ProposalOrganize => "a proposal: create, resolve, cancel",
            Self::ProposalRespond => "a proposal: respond",
            Self::Decisions => "approvals: approve, deny",
            Self::Common => "usage, feedback",
            Self::Account => "console: the user's own account",
            Self::Members => "console: members",
            Self::Administration => "console: name, terms, export",
            Self::ConsoleKeys => "console: keys",
            Self::Deletion => "console: deletion of the organization",
            Self::Admin => "admin routes",
        }
    }

    /// Whether only a console session counts.
    pub const fn is_console(self) -> bool {
        matches!(self, Self::Account | Self::Members | Self::Administration | Self::ConsoleKeys | Self::Deletion)
    }

    /// Whether an organization on the waiting list may use it: what needs no organization, the user's own account, and what
    /// ends the waiting or the account.
    const fn is_open_to_waiting(self) -> bool {
        matches!(self, Self::Public | Self::Account | Self::Administration | Self::Deletion)
    }
}

/// One cell of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowed {
    /// Everything of the organization.
    Yes,
    /// Reading everything of the organization. Writing is 403 `forbidden`.
    Reads,
    /// Everything that belongs to the key's own agent. Lists show nothing else.
    Own,
    /// Everything that belongs to the key's own agent, and with the scope what the scope says of others.
    OwnOr(Scope),
    /// With the scope, what the scope says. Without it, 403 `forbidden`.
    Only(Scope),
    /// Proposals that the key's own agent organizes.
    IfOrganizer,
    /// Responses of the key's own agent to proposals in which it takes part.
    IfParticipant,
    /// Proposals that the key's own agent organizes or takes part in. Lists show nothing else.
    IfParty,
    /// 403 `forbidden`.
    Forbidden,
    /// 401: the credential does not count here.
    Unauthorized,
}

impl Allowed {
    /// The word in the documentation.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::Reads => "reads",
            Self::Own => "own",
            Self::OwnOr(Scope::FreebusyOrg) => "own, or all with `freebusy:org`",
            Self::OwnOr(Scope::DirectoryOrg) => "own, or names with `directory:org`",
            Self::OwnOr(Scope::HoldsOrg) => "own, or all with `holds:org`",
            Self::Only(Scope::FreebusyOrg) => "with `freebusy:org`",
            Self::Only(Scope::DirectoryOrg) => "names with `directory:org`",
            Self::Only(Scope::HoldsOrg) => "with `holds:org`",
            Self::IfOrganizer => "as organizer",
            Self::IfParticipant => "as participant",
            Self::IfParty => "as organizer or participant",
            Self::Forbidden => "403",
            Self::Unauthorized => "401",
        }
    }
}

mod table {
    //! The table's cells, under short names.

    use super::{
        Allowed::{
            self, Forbidden as No, IfOrganizer, IfParticipant, IfParty, Only, Own, OwnOr, Reads,
            Unauthorized as Unknown, Yes,
        },
        CallerKind,
        Scope::{DirectoryOrg, FreebusyOrg, HoldsOrg},
        Touch,
    };

    /// The access table: a row for each [`Touch::ALL`], a column for each [`CallerKind::ALL`].
    ///
    /// A credential of the wrong kind, such as a key on the console's routes, counts as no credential (401). One of the
    /// right kind with too small a reach, or of a user with too low a role, is refused with 403. A session speaks for
    /// its organization.
    pub const TABLE: [(Touch, [Allowed; CallerKind::ALL.len()]); Touch::ALL.len()] = [
        // nobody; keys: organization, sign-up, test, agent; sessions: owner, admin, member, viewer; operator
        (Touch::Public, /*       */ [Yes, Yes, Yes, Yes, Yes, Yes, Yes, Yes, Yes, Yes]),
        (Touch::Organization, /* */ [Unknown, Yes, Yes, Yes, No, Yes, Yes, Reads, Reads, Unknown]),
        (Touch::Agents, /*       */ [Unknown, Yes, Yes, Yes, No, Yes, Yes, Yes, Reads, Unknown]),
        (Touch::AgentDirectory, [Unknown, Yes, Yes, Yes, Only(DirectoryOrg), Yes, Yes, Yes, Reads, Unknown]),
        (Touch::Keys, /*         */ [Unknown, Yes, Yes, Yes, No, Yes, Yes, Reads, Reads, Unknown]),
        (Touch::KeyCreation, /*  */ [Unknown, Yes, Yes, Yes, No, Yes, Yes, No, No, Unknown]),
        (Touch::AgentRecord, [Unknown, Yes, Yes, Yes, OwnOr(DirectoryOrg), Yes, Yes, Yes, Reads, Unknown]),
        (Touch::AgentData, /*    */ [Unknown, Yes, Yes, Yes, Own, Yes, Yes, Yes, Reads, Unknown]),
        (Touch::CalendarDirectory, [Unknown, Yes, Yes, Yes, OwnOr(DirectoryOrg), Yes, Yes, Yes, Reads, Unknown]),
        (Touch::AgentLists, /*   */ [Unknown, Yes, Yes, Yes, Own, Yes, Yes, Yes, Reads, Unknown]),
        (Touch::Availability, [Unknown, Yes, Yes, Yes, OwnOr(FreebusyOrg), Yes, Yes, Yes, Reads, Unknown]),
        (Touch::JointAvailability, [Unknown, Yes, Yes, Yes, Only(FreebusyOrg), Yes, Yes, Yes, Reads, Unknown]),
        (Touch::HoldSets, [Unknown, Yes, Yes, Yes, OwnOr(HoldsOrg), Yes, Yes, Yes, Reads, Unknown]),
        (Touch::ProposalRead, /* */ [Unknown, Yes, Yes, Yes, IfParty, Yes, Yes, Yes, Reads, Unknown]),
        (Touch::ProposalList, /* */ [Unknown, Yes, Yes, Yes, IfParty, Yes, Yes, Yes, Reads, Unknown]),
        (Touch::ProposalOrganize, [Unknown, Yes, Yes, Yes, IfOrganizer, Yes, Yes, Yes, Reads, Unknown]),
        (Touch::ProposalRespond, [Unknown, Yes, Yes, Yes, IfParticipant, Yes, Yes, Yes, Reads, Unknown]),
        (Touch::Decisions, /*    */ [Unknown, Yes, Yes, Yes, No, Yes, Yes, Yes, Reads, Unknown]),
        (Touch::Common, /*       */ [Unknown, Yes, Yes, Yes, Yes, Yes, Yes, Yes, Yes, Unknown]),
        (Touch::Account, /*      */ [Unknown, Unknown, Unknown, Unknown, Unknown, Yes, Yes, Yes, Yes, Unknown]),
        (Touch::Members, [Unknown, Unknown, Unknown, Unknown, Unknown, Yes, Yes, Reads, Reads, Unknown]),
        (Touch::Administration, [Unknown, Unknown, Unknown, Unknown, Unknown, Yes, Yes, No, No, Unknown]),
        (Touch::ConsoleKeys, /*  */ [Unknown, Unknown, Unknown, Unknown, Unknown, Yes, Yes, No, No, Unknown]),
        (Touch::Deletion, /*     */ [Unknown, Unknown, Unknown, Unknown, Unknown, Yes, No, No, No, Unknown]),
        (Touch::Admin, [Unknown, Unknown, Unknown, Unknown, Unknown, Unknown, Unknown, Unknown, Unknown, Yes]),
    ];
}

pub use table::TABLE;

/// The cell of the table for a caller and what is touched.
pub const fn allowed(kind: CallerKind, touch: Touch) -> Allowed {
    TABLE[touch as usize].1[kind as usize]
}

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
    #[error("an agent's key reaches its own agent, and others only by its scopes; use a key of the organization")]
    OutOfReach,
    /// The user's role does not allow it: 403, code `role_too_low`.
    #[error(
        "your role in the organization does not allow this; ask an owner or an admin to do it, or for another role"
    )]
    RoleTooLow,
    /// The agent is paused: 403, code `agent_paused`.
    #[error("the agent is paused, so that its keys may only read; set its status to active first")]
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

/// The columns of keys and other credentials, as the documentation shows them.
pub fn credentials_markdown() -> String {
    markdown(|kind| kind.role().is_none())
}

/// The columns of sessions, one for each role, as the documentation shows them.
pub fn roles_markdown() -> String {
    markdown(|kind| kind.role().is_some())
}

fn markdown(shown: impl Fn(CallerKind) -> bool) -> String {
    let kinds: Vec<_> = CallerKind::ALL.into_iter().filter(|kind| shown(*kind)).collect();
    let names: Vec<_> = kinds.iter().map(|kind| kind.as_str()).collect();
    let mut text = format!("| what | {} |\n|---|{}\n", names.join(" | "), "---|".repeat(kinds.len()));
    for (touch, _) in TABLE {
        let cells: Vec<_> = kinds.iter().map(|kind| allowed(*kind, touch)).collect();
        // What none of them opens is left out.
        if cells.iter().all(|cell| *cell == Allowed::Unauthorized) {
            continue;
        }
        let cells: Vec<_> = cells.into_iter().map(Allowed::as_str).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {} | {} |", touch.as_str(), cells.join(" | "));
    }
    text
}

#[cfg(test)]
mod tests {
    use kalends_kernel::Entropy;
    use kalends_time::Timestamp;
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    struct Fixed(u8);
    impl Entropy for Fixed {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(self.0);
        }
    }

    fn agent(number: u8) -> AgentId {
        AgentId::new(Timestamp::from_micros(0), &Fixed(number))
    }

    fn caller(kind: CallerKind) -> Caller {
        scoped(kind, Scopes::NONE)
    }

    fn scoped(kind: CallerKind, scopes: Scopes) -> Caller {
        let agent = (kind == CallerKind::AgentKey).then(|| ScopedAgent { id: agent(1), paused: false, scopes });
        Caller { kind, agent, waitlisted: false }
    }

    /// Every set of scopes.
    fn every_set() -> impl Iterator<Item = Scopes> {
        (0..1 << Scope::ALL.len()).map(|bits: usize| {
            let chosen = Scope::ALL.into_iter().enumerate().filter(|(index, _)| bits & (1 << index) != 0);
            chosen.map(|(_, scope)| scope).collect()
        })
    }

    #[test]
    fn rows_and_columns_are_in_order() {
        for (index, (touch, _)) in TABLE.into_iter().enumerate() {
            assert_eq!((touch, touch as usize), (Touch::ALL[index], index));
        }
        for (index, kind) in CallerKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, index);
        }
    }

    /// The column of agent keys, written a second time so that a slip in either place shows.
    #[rstest]
    #[case::an_agent_s_record(Touch::AgentRecord, Allowed::OwnOr(Scope::DirectoryOrg))]
    #[case::the_list_of_agents(Touch::AgentDirectory, Allowed::Only(Scope::DirectoryOrg))]
    #[case::the_list_of_calendars(Touch::CalendarDirectory, Allowed::OwnOr(Scope::DirectoryOrg))]
    #[case::availability(Touch::Availability, Allowed::OwnOr(Scope::FreebusyOrg))]
    #[case::availability_of_several(Touch::JointAvailability, Allowed::Only(Scope::FreebusyOrg))]
    #[case::hold_sets(Touch::HoldSets, Allowed::OwnOr(Scope::HoldsOrg))]
    #[case::its_calendars(Touch::AgentData, Allowed::Own)]
    #[case::lists(Touch::AgentLists, Allowed::Own)]
    #[case::usage_and_feedback(Touch::Common, Allowed::Yes)]
    #[case::responses(Touch::ProposalRespond, Allowed::IfParticipant)]
    #[case::its_proposals(Touch::ProposalOrganize, Allowed::IfOrganizer)]
    #[case::both_are_read(Touch::ProposalRead, Allowed::IfParty)]
    #[case::both_are_listed(Touch::ProposalList, Allowed::IfParty)]
    #[case::all_else(Touch::Organization, Allowed::Forbidden)]
    #[case::keys(Touch::Keys, Allowed::Forbidden)]
    #[case::new_keys(Touch::KeyCreation, Allowed::Forbidden)]
    #[case::its_siblings(Touch::Agents, Allowed::Forbidden)]
    #[case::the_console(Touch::Account, Allowed::Unauthorized)]
    #[case::members(Touch::Members, Allowed::Unauthorized)]
    #[case::terms_and_export(Touch::Administration, Allowed::Unauthorized)]
    #[case::its_keys(Touch::ConsoleKeys, Allowed::Unauthorized)]
    #[case::deletion(Touch::Deletion, Allowed::Unauthorized)]
    #[case::the_operator(Touch::Admin, Allowed::Unauthorized)]
    #[case::public(Touch::Public, Allowed::Yes)]
    fn an_agent_s_key_reaches_its_own_agent(#[case] touch: Touch, #[case] may: Allowed) {
        assert_eq!(allowed(CallerKind::AgentKey, touch), may);
    }

    #[test]
    fn owners_reach_what_organization_keys_reach_and_the_console() {
        for touch in Touch::ALL {
            let of_keys = [CallerKind::OrganizationKey, CallerKind::RestrictedKey, CallerKind::TestKey]
                .map(|kind| enter(&caller(kind), touch, true));
            let expected = if touch.is_console() || touch == Touch::Admin {
                Err(Denied::Unauthorized)
            } else {
                Ok(Passage::Everything)
            };
            assert_eq!(of_keys, [expected; 3], "{touch:?}");
            let of_owner = enter(&caller(CallerKind::Owner), touch, true);
            let expected = if touch == Touch::Admin { Err(Denied::Unauthorized) } else { Ok(Passage::Everything) };
            assert_eq!(of_owner, expected, "{touch:?}");
            let of_nobody = enter(&caller(CallerKind::Nobody), touch, false);
            assert_eq!(of_nobody.is_ok(), touch == Touch::Public, "{touch:?}");
        }
    }

    /// The lowest role that may write, written a second time so that a slip in either place shows.
    fn writes(touch: Touch) -> Role {
        match touch {
            Touch::Public | Touch::Common | Touch::Account => Role::Viewer,
            Touch::Agents
            | Touch::AgentDirectory
            | Touch::AgentRecord
            | Touch::AgentData
            | Touch::CalendarDirectory
            | Touch::AgentLists
            | Touch::Availability
            | Touch::JointAvailability
            | Touch::HoldSets
            | Touch::ProposalRead
            | Touch::ProposalList
            | Touch::ProposalOrganize
            | Touch::ProposalRespond
            | Touch::Decisions => Role::Member,
            Touch::Organization
            | Touch::Keys
            | Touch::KeyCreation
            | Touch::Members
            | Touch::Administration
            | Touch::ConsoleKeys => Role::Admin,
            Touch::Deletion | Touch::Admin => Role::Owner,
        }
    }

    #[test]
    fn each_role_reaches_what_the_lower_ones_reach() {
        for touch in Touch::ALL {
            if touch == Touch::Admin {
                continue;
            }
            // What reveals everything, and what only writes.
            let closed = [Touch::KeyCreation, Touch::Administration, Touch::ConsoleKeys, Touch::Deletion];
            let reads = if closed.contains(&touch) { writes(touch) } else { Role::Viewer };
            for role in Role::ALL {
                let session = caller(CallerKind::of_role(role));
                let expected = |least| if role >= least { Ok(Passage::Everything) } else { Err(Denied::RoleTooLow) };
                assert_eq!(enter(&session, touch, true), expected(writes(touch)), "{role:?} writes {touch:?}");
                assert_eq!(enter(&session, touch, false), expected(reads), "{role:?} reads {touch:?}");
            }
        }
    }

    #[test]
    fn the_kind_of_a_session_names_its_role() {
        for kind in CallerKind::ALL {
            assert_eq!(kind.role().map(CallerKind::of_role), kind.role().map(|_| kind));
        }
        assert_eq!(CallerKind::ALL.into_iter().filter_map(CallerKind::role).count(), Role::ALL.len());
    }

    #[test]
    fn a_paused_agent_s_keys_only_read() {
        for touch in Touch::ALL {
            let active = caller(CallerKind::AgentKey);
            let paused = |scopes| Some(ScopedAgent { id: agent(1), paused: true, scopes });
            for scopes in every_set() {
                let active = Caller { agent: active.agent.map(|agent| ScopedAgent { scopes, ..agent }), ..active };
                let paused = Caller { agent: paused(scopes), ..active };
                assert_eq!(enter(&paused, touch, false), enter(&active, touch, false), "{touch:?}");
                let written = match enter(&active, touch, true) {
                    Ok(passage) if touch == Touch::Public => Ok(passage),
                    Ok(_) => Err(Denied::AgentPaused),
                    denied => denied,
                };
                assert_eq!(enter(&paused, touch, true), written, "{touch:?}");
            }
        }
    }

    /// A scope matters for keys of agents only, and opens its own rows of the table only. Every other row is as
    /// without.
    #[test]
    fn a_scope_opens_its_own_rows() {
        let rows = |scope: Scope| match scope {
            Scope::FreebusyOrg => vec![Touch::Availability, Touch::JointAvailability],
            Scope::DirectoryOrg => vec![Touch::AgentDirectory, Touch::AgentRecord, Touch::CalendarDirectory],
            Scope::HoldsOrg => vec![Touch::HoldSets],
        };
        for scopes in every_set() {
            for touch in Touch::ALL {
                for kind in CallerKind::ALL {
                    for writes in [false, true] {
                        let with = enter(&scoped(kind, scopes), touch, writes);
                        let by = scopes.iter().find(|scope| rows(*scope).contains(&touch));
                        match by.filter(|_| kind == CallerKind::AgentKey) {
                            Some(by) => assert_eq!(with, Ok(Passage::Widened { own: agent(1), by })),
                            None => assert_eq!(with, enter(&caller(kind), touch, writes), "{kind:?} {touch:?}"),
                        }
                        assert!(with.is_err() || Standing { kind, scopes }.opens(touch), "{kind:?} {touch:?}");
                    }
                    let reads = enter(&scoped(kind, scopes), touch, false);
                    let only_writes = matches!(reads, Err(Denied::RoleTooLow));
                    let opens = Standing { kind, scopes }.opens(touch);
                    assert!(only_writes || reads.is_ok() == opens, "{kind:?} {touch:?}");
                }
            }
        }
    }

    /// Any subject, of the key's own agent (1) or of others.
    fn subjects() -> impl Strategy<Value = Subject<'static>> {
        let owner = || proptest::option::of((1u8..4).prop_map(agent));
        prop_oneof![
            owner().prop_map(Subject::Of),
            owner().prop_map(Subject::BusyTimes),
            owner().prop_map(Subject::Name),
            owner().prop_map(Subject::NewHold),
            owner().prop_map(Subject::PlacedBy),
            (1u8..4).prop_map(|by| Subject::Proposal { organizer: agent(by), participants: &[] }),
        ]
    }

    fn any_scopes() -> impl Strategy<Value = Scopes> {
        proptest::collection::vec(proptest::sample::select(Scope::ALL.to_vec()), 0..4)
            .prop_map(|scopes| scopes.into_iter().collect())
    }

    proptest! {
        /// A scope only adds: what a key without scopes covers, a key with scopes covers too.
        #[test]
        fn scopes_only_add(
            touch in proptest::sample::select(Touch::ALL.to_vec()),
            subject in subjects(),
            scopes in any_scopes(),
            writes: bool,
        ) {
            let covers = |scopes| {
                let passage = enter(&scoped(CallerKind::AgentKey, scopes), touch, writes);
                passage.and_then(|passage| passage.covers(subject)).is_ok()
            };
            prop_assert!(!covers(Scopes::NONE) || covers(scopes));
        }

        /// No scope opens what belongs to others itself: of others, a key covers busy times, names, new holds of sets,
        /// and the sets that its agent placed, each with its own scope only.
        #[test]
        fn scopes_open_nothing_else(
            touch in proptest::sample::select(Touch::ALL.to_vec()),
            subject in subjects(),
            scopes in any_scopes(),
            writes: bool,
        ) {
            let Ok(passage) = enter(&scoped(CallerKind::AgentKey, scopes), touch, writes) else { return Ok(()) };
            let Passage::Widened { own, by } = passage else { return Ok(()) };
            prop_assert_eq!(passage.narrowed_to(), Some(own));
            let covered = passage.covers(subject).is_ok();
            match subject {
                Subject::Of(owner) => prop_assert_eq!(covered, owner == Some(own)),
                Subject::BusyTimes(owner) => prop_assert_eq!(covered, owner == Some(own) || by == Scope::FreebusyOrg),
                Subject::Name(owner) => prop_assert_eq!(covered, owner == Some(own) || by == Scope::DirectoryOrg),
                Subject::NewHold(owner) => prop_assert_eq!(covered, owner == Some(own) || by == Scope::HoldsOrg),
                Subject::PlacedBy(placer) => prop_assert_eq!(covered, placer == Some(own) && by == Scope::HoldsOrg),
                Subject::Proposal { .. } | Subject::Response { .. } => prop_assert!(!covered),
            }
        }
    }

    #[test]
    fn waiting_organizations_reach_nothing_but_their_users_accounts() {
        for kind in CallerKind::ALL {
            for touch in Touch::ALL {
                let waiting = Caller { waitlisted: true, ..caller(kind) };
                let open = [Touch::Public, Touch::Account, Touch::Administration, Touch::Deletion];
                let expected = match enter(&caller(kind), touch, true) {
                    Err(Denied::Unauthorized) => Err(Denied::Unauthorized),
                    otherwise if open.contains(&touch) => otherwise,
                    _ => Err(Denied::Waitlisted),
                };
                assert_eq!(enter(&waiting, touch, true), expected, "{kind:?} {touch:?}");
            }
        }
    }

    #[test]
    fn an_agent_s_key_without_an_agent_reaches_nothing() {
        let lost = Caller { agent: None, ..caller(CallerKind::AgentKey) };
        for touch in [Touch::AgentRecord, Touch::AgentData, Touch::ProposalRead, Touch::ProposalRespond] {
            assert_eq!(enter(&lost, touch, false), Err(Denied::OutOfReach));
        }
    }

    #[rstest]
    #[case::own(Touch::AgentData, Subject::Of(Some(agent(1))), true)]
    #[case::a_sibling_s(Touch::AgentData, Subject::Of(Some(agent(2))), false)]
    #[case::shared(Touch::AgentData, Subject::Of(None), false)]
    #[case::itself(Touch::AgentRecord, Subject::Of(Some(agent(1))), true)]
    #[case::a_sibling(Touch::AgentRecord, Subject::Of(Some(agent(2))), false)]
    #[case::organized(Touch::ProposalOrganize, Subject::Proposal { organizer: agent(1), participants: &[] }, true)]
    #[case::organized_by_another(
        Touch::ProposalOrganize,
        Subject::Proposal { organizer: agent(2), participants: &[agent(1)] },
        false
    )]
    #[case::read_as_organizer(Touch::ProposalRead, Subject::Proposal { organizer: agent(1), participants: &[] }, true)]
    #[case::read_as_participant(
        Touch::ProposalRead,
        Subject::Proposal { organizer: agent(2), participants: &[agent(3), agent(1)] },
        true
    )]
    #[case::read_as_a_stranger(
        Touch::ProposalRead,
        Subject::Proposal { organizer: agent(2), participants: &[agent(3)] },
        false
    )]
    #[case::responded(Touch::ProposalRespond, Subject::Response { by: agent(1), participants: &[agent(1)] }, true)]
    #[case::responded_for_another(
        Touch::ProposalRespond,
        Subject::Response { by: agent(2), participants: &[agent(1), agent(2)] },
        false
    )]
    #[case::responded_uninvited(
        Touch::ProposalRespond,
        Subject::Response { by: agent(1), participants: &[agent(2)] },
        false
    )]
    #[case::of_another_sort(Touch::AgentData, Subject::Proposal { organizer: agent(1), participants: &[] }, false)]
    fn a_passage_covers_its_own_subjects(#[case] touch: Touch, #[case] subject: Subject<'_>, #[case] covered: bool) {
        let passage = enter(&caller(CallerKind::AgentKey), touch, false).unwrap();
        assert_eq!(passage.covers(subject).is_ok(), covered);
        assert_eq!(passage.narrowed_to(), Some(agent(1)));
        let everything = enter(&caller(CallerKind::OrganizationKey), touch, false).unwrap();
        assert_eq!((everything.covers(subject), everything.narrowed_to()), (Ok(()), None));
    }

    #[test]
    fn the_documentation_shows_this_table() {
        let documented = include_str!("../../../docs/use/keys.md");
        for table in [credentials_markdown(), roles_markdown()] {
            assert!(documented.contains(&table), "docs/use/keys.md must contain:\n{table}");
        }
    }
}
