//! The columns, rows and cells of the access table.

use crate::{KeyKind, Role, Scope};

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

    /// Whether an organization on the waiting list may use it: what needs no organization, the user's own account, and
    /// what ends the waiting or the account.
    pub(super) const fn is_open_to_waiting(self) -> bool {
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
