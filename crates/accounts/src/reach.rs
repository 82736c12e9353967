//! The access table: which callers may do what.
//!
//! [`TABLE`] is the only place with these rules. An operation declares what it touches ([`Touch`]) and nothing else.
//! [`enter`] decides whether the caller's kind may enter at all, before anything is read. It returns a [`Passage`],
//! whose [`Passage::covers`] decides about a resource once it is read. The documentation prints the table with
//! [`markdown`], and tests check each cell.

use std::fmt::Write;

use kalends_kernel::AgentId;

use crate::KeyKind;

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
    /// An agent's key, `svc_ak_`.
    AgentKey,
    /// A user's console session.
    Session,
    /// The operator's token.
    AdminToken,
}

impl CallerKind {
    /// Every kind, in the order of the table's columns.
    pub const ALL: [Self; 7] = [
        Self::Nobody,
        Self::OrganizationKey,
        Self::RestrictedKey,
        Self::TestKey,
        Self::AgentKey,
        Self::Session,
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
            Self::Session => "console session",
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
    /// The organization as a whole: creating, listing, changing and removing agents, shared calendars, availability
    /// across agents, webhooks, the audit log, verification, and accepting terms.
    Organization,
    /// Agent-scoped keys: listing and revoking.
    Keys,
    /// Creating an agent-scoped key.
    KeyCreation,
    /// Reading the record of one agent.
    AgentRecord,
    /// Everything that belongs to one agent: its calendars with their events, holds, context, availability, rules,
    /// iCalendar subscriptions, booking pages and connection links. Shared calendars belong to no agent.
    AgentData,
    /// Lists over all agents: calendars, hold sets, booking pages, found events.
    AgentLists,
    /// Reading a proposal.
    ProposalRead,
    /// The list of proposals.
    ProposalList,
    /// Creating, resolving or cancelling a proposal, which only its organizer may do.
    ProposalOrganize,
    /// Responding to a proposal, which only a participant may do.
    ProposalRespond,
    /// Operations that any key or session may do for its organization: reading usage, sending feedback.
    Common,
    /// A user's own account and organization: the console's routes.
    Console,
    /// Creating keys from the console.
    ConsoleKeys,
    /// The operator's routes.
    Admin,
}

impl Touch {
    /// Every variant, in the order of the table's rows.
    pub const ALL: [Self; 15] = [
        Self::Public,
        Self::Organization,
        Self::Keys,
        Self::KeyCreation,
        Self::AgentRecord,
        Self::AgentData,
        Self::AgentLists,
        Self::ProposalRead,
        Self::ProposalList,
        Self::ProposalOrganize,
        Self::ProposalRespond,
        Self::Common,
        Self::Console,
        Self::ConsoleKeys,
        Self::Admin,
    ];

    /// The name in the documentation.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Public => "public routes",
            Self::Organization => "the organization, its agents and shared calendars",
            Self::Keys => "keys: list, revoke",
            Self::KeyCreation => "keys: create",
            Self::AgentRecord => "an agent, read",
            Self::AgentData => "an agent's calendars and their contents",
            Self::AgentLists => "lists of calendars, hold sets and booking pages, searches",
            Self::ProposalRead => "a proposal, read",
            Self::ProposalList => "the list of proposals",
            Self::ProposalOrganize => "a proposal: create, resolve, cancel",
            Self::ProposalRespond => "a proposal: respond",
            Self::Common => "usage, feedback",
            Self::Console => "console routes",
            Self::ConsoleKeys => "console routes that make keys",
            Self::Admin => "admin routes",
        }
    }
}

/// One cell of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowed {
    /// Everything of the organization.
    Yes,
    /// Everything that belongs to the key's own agent. Lists show nothing else.
    Own,
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
            Self::Own => "own",
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
        Allowed::{self, Forbidden as No, IfOrganizer, IfParticipant, IfParty, Own, Unauthorized as Unknown, Yes},
        CallerKind, Touch,
    };

    /// The access table: a row for each [`Touch::ALL`], a column for each [`CallerKind::ALL`].
    ///
    /// A credential of the wrong kind, such as a key on the console's routes, counts as no credential (401). A key of
    /// the right kind with too small a reach is refused with 403. A session speaks for its organization.
    pub const TABLE: [(Touch, [Allowed; CallerKind::ALL.len()]); Touch::ALL.len()] = [
        //                         nobody   org      sign-up  test     agent          session  admin
        (Touch::Public, /*      */ [Yes, Yes, Yes, Yes, Yes, Yes, Yes]),
        (Touch::Organization, /**/ [Unknown, Yes, Yes, Yes, No, Yes, Unknown]),
        (Touch::Keys, /*        */ [Unknown, Yes, Yes, Yes, No, Yes, Unknown]),
        (Touch::KeyCreation, /* */ [Unknown, Yes, Yes, Yes, No, Yes, Unknown]),
        (Touch::AgentRecord, /* */ [Unknown, Yes, Yes, Yes, Own, Yes, Unknown]),
        (Touch::AgentData, /*   */ [Unknown, Yes, Yes, Yes, Own, Yes, Unknown]),
        (Touch::AgentLists, /*  */ [Unknown, Yes, Yes, Yes, Own, Yes, Unknown]),
        (Touch::ProposalRead, /**/ [Unknown, Yes, Yes, Yes, IfParty, Yes, Unknown]),
        (Touch::ProposalList, /**/ [Unknown, Yes, Yes, Yes, IfParty, Yes, Unknown]),
        (Touch::ProposalOrganize, [Unknown, Yes, Yes, Yes, IfOrganizer, Yes, Unknown]),
        (Touch::ProposalRespond, [Unknown, Yes, Yes, Yes, IfParticipant, Yes, Unknown]),
        (Touch::Common, /*      */ [Unknown, Yes, Yes, Yes, Yes, Yes, Unknown]),
        (Touch::Console, /*     */ [Unknown, Unknown, Unknown, Unknown, Unknown, Yes, Unknown]),
        (Touch::ConsoleKeys, /* */ [Unknown, Unknown, Unknown, Unknown, Unknown, Yes, Unknown]),
        (Touch::Admin, /*       */ [Unknown, Unknown, Unknown, Unknown, Unknown, Unknown, Yes]),
    ];
}

pub use table::TABLE;

/// The cell of the table for a caller and what is touched.
pub const fn allowed(kind: CallerKind, touch: Touch) -> Allowed {
    TABLE[touch as usize].1[kind as usize]
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
}

/// Why a caller is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Denied {
    /// No credential that counts here: 401.
    #[error("the route needs another credential")]
    Unauthorized,
    /// The key does not reach that far: 403 `forbidden`.
    #[error("an agent's key reaches its own agent only; use a key of the organization")]
    OutOfReach,
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
/// In this order: 401, 403 `account_waitlisted`, 403 `forbidden`, 403 `agent_paused`.
pub fn enter(caller: &Caller, touch: Touch, writes: bool) -> Result<Passage, Denied> {
    let allowed = allowed(caller.kind, touch);
    if allowed == Allowed::Unauthorized {
        return Err(Denied::Unauthorized);
    }
    // Public routes have no organization. On the waiting list, a user may still use their own account.
    if caller.waitlisted && !matches!(touch, Touch::Public | Touch::Console) {
        return Err(Denied::Waitlisted);
    }
    let agent = caller.agent.ok_or(Denied::OutOfReach);
    let passage = match allowed {
        Allowed::Yes => Passage::Everything,
        Allowed::Own => Passage::OwnedBy(agent?.id),
        Allowed::IfOrganizer => Passage::OrganizedBy(agent?.id),
        Allowed::IfParticipant => Passage::RespondedBy(agent?.id),
        Allowed::IfParty => Passage::Concerning(agent?.id),
        Allowed::Forbidden => return Err(Denied::OutOfReach),
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
            (Self::OwnedBy(own), Subject::Of(owner)) => owner == Some(own),
            (Self::OrganizedBy(own), Subject::Proposal { organizer, .. }) => organizer == own,
            (Self::Concerning(own), Subject::Proposal { organizer, participants }) => {
                organizer == own || participants.contains(&own)
            }
            (Self::RespondedBy(own), Subject::Response { by, participants }) => {
                by == own && participants.contains(&own)
            }
            (Self::OwnedBy(_) | Self::OrganizedBy(_) | Self::Concerning(_) | Self::RespondedBy(_), _) => false,
        };
        if covered { Ok(()) } else { Err(Denied::OutOfReach) }
    }

    /// The agent that lists are narrowed to; `None` shows everything.
    pub const fn narrowed_to(self) -> Option<AgentId> {
        match self {
            Self::Everything => None,
            Self::OwnedBy(own) | Self::OrganizedBy(own) | Self::RespondedBy(own) | Self::Concerning(own) => Some(own),
        }
    }
}

/// The table as the documentation shows it.
pub fn markdown() -> String {
    let mut text = String::from("| what | ");
    text.push_str(&CallerKind::ALL.map(CallerKind::as_str).join(" | "));
    text.push_str(" |\n|---|");
    text.push_str(&"---|".repeat(CallerKind::ALL.len()));
    text.push('\n');
    for (touch, cells) in TABLE {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {} | {} |", touch.as_str(), cells.map(Allowed::as_str).join(" | "));
    }
    text
}

#[cfg(test)]
mod tests {
    use kalends_kernel::Entropy;
    use kalends_time::Timestamp;
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
        let agent = (kind == CallerKind::AgentKey).then(|| ScopedAgent { id: agent(1), paused: false });
        Caller { kind, agent, waitlisted: false }
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
    #[case::an_agent_s_record(Touch::AgentRecord, Allowed::Own)]
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
    #[case::the_console(Touch::Console, Allowed::Unauthorized)]
    #[case::its_keys(Touch::ConsoleKeys, Allowed::Unauthorized)]
    #[case::the_operator(Touch::Admin, Allowed::Unauthorized)]
    #[case::public(Touch::Public, Allowed::Yes)]
    fn an_agent_s_key_reaches_its_own_agent(#[case] touch: Touch, #[case] may: Allowed) {
        assert_eq!(allowed(CallerKind::AgentKey, touch), may);
    }

    #[test]
    fn sessions_reach_what_organization_keys_reach_and_the_console() {
        for touch in Touch::ALL {
            let console = matches!(touch, Touch::Console | Touch::ConsoleKeys);
            let of_keys = [CallerKind::OrganizationKey, CallerKind::RestrictedKey, CallerKind::TestKey]
                .map(|kind| enter(&caller(kind), touch, true));
            let expected =
                if console || touch == Touch::Admin { Err(Denied::Unauthorized) } else { Ok(Passage::Everything) };
            assert_eq!(of_keys, [expected; 3], "{touch:?}");
            let of_session = enter(&caller(CallerKind::Session), touch, true);
            let expected = if touch == Touch::Admin { Err(Denied::Unauthorized) } else { Ok(Passage::Everything) };
            assert_eq!(of_session, expected, "{touch:?}");
            let of_nobody = enter(&caller(CallerKind::Nobody), touch, false);
            assert_eq!(of_nobody.is_ok(), touch == Touch::Public, "{touch:?}");
        }
    }

    #[test]
    fn a_paused_agent_s_keys_only_read() {
        for touch in Touch::ALL {
            let active = caller(CallerKind::AgentKey);
            let paused = Caller { agent: Some(ScopedAgent { id: agent(1), paused: true }), ..active };
            assert_eq!(enter(&paused, touch, false), enter(&active, touch, false), "{touch:?}");
            let written = match enter(&active, touch, true) {
                Ok(passage) if touch == Touch::Public => Ok(passage),
                Ok(_) => Err(Denied::AgentPaused),
                denied => denied,
            };
            assert_eq!(enter(&paused, touch, true), written, "{touch:?}");
        }
    }

    #[test]
    fn waiting_organizations_reach_nothing_but_their_users_accounts() {
        for kind in CallerKind::ALL {
            for touch in Touch::ALL {
                let waiting = Caller { waitlisted: true, ..caller(kind) };
                let expected = match enter(&caller(kind), touch, true) {
                    Err(Denied::Unauthorized) => Err(Denied::Unauthorized),
                    otherwise if matches!(touch, Touch::Public | Touch::Console) => otherwise,
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
        assert!(documented.contains(&markdown()), "docs/use/keys.md must contain:\n{}", markdown());
    }
}
