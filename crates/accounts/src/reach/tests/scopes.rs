//! Tests of what the scopes of an agent's key open.

use proptest::prelude::*;

use super::{agent, caller, every_set, scoped};
use crate::{Scope, Scopes, reach::*};

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
