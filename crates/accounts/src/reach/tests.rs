//! Tests of the table, cell by cell, and of what passages cover.

mod scopes;

use kalends_kernel::{AgentId, Entropy};
use kalends_time::Timestamp;
use rstest::rstest;

use super::*;
use crate::{Role, Scope, Scopes};

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
    let documented = include_str!("../../../../docs/use/keys.md");
    for table in [credentials_markdown(), roles_markdown()] {
        assert!(documented.contains(&table), "docs/use/keys.md must contain:\n{table}");
    }
}
