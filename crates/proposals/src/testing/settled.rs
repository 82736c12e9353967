//! Proposals with the responses of all their participants.

#![expect(clippy::unwrap_used, reason = "what is drawn is valid by construction, and a failed draw must fail the test")]

use proptest::prelude::*;

use super::fixtures::{Counting, NOW, agent, at, kinds, new_proposal, org, slot};
use crate::{NewResponse, Proposal, ResponseKind};

/// A response: the number of the agent, its kind, and the index of the slot that it selects.
pub type Given = (usize, ResponseKind, Option<usize>);

/// The proposal after these responses, in this order, at [`NOW`].
///
/// # Panics
///
/// If the proposal refuses a response.
pub fn after(proposal: &Proposal, responses: &[Given]) -> Proposal {
    let source = Counting::starting_at(1_000);
    responses.iter().fold(proposal.clone(), |proposal, (who, kind, slot)| {
        let selected = slot.map(|index| proposal.slots()[index].id());
        proposal.respond(agent(*who), NewResponse::new(*kind, selected), NOW, &source).unwrap()
    })
}

/// A proposal whose slots have few different times and weights, so that ties are frequent, and a response of each of its
/// participants.
pub fn settled() -> impl Strategy<Value = (Proposal, Vec<Given>)> {
    let slots = proptest::collection::vec((1..6_i64, 1..3_i64, 0..6_u32), 1..8);
    (slots, 1..8_usize).prop_flat_map(|(slots, participants)| {
        let count = slots.len();
        let new_slots = slots
            .into_iter()
            .map(|(start, length, weight)| slot(start * 30, length * 30, f64::from(weight) * 0.3))
            .collect();
        let responses = proptest::collection::vec((kinds(), proptest::option::of(0..count)), participants);
        let late = new_proposal(new_slots, participants).with_expiry(at(300));
        (Just(Proposal::create(org(), late, NOW, &Counting::starting_at(1)).unwrap()), responses).prop_map(
            |(proposal, responses)| {
                let responses = responses.into_iter().enumerate().map(|(index, (kind, selected))| {
                    // An acceptance must select a slot.
                    let selected = if kind == ResponseKind::Accept { Some(selected.unwrap_or(0)) } else { selected };
                    (index + 1, kind, selected)
                });
                (proposal, responses.collect())
            },
        )
    })
}
