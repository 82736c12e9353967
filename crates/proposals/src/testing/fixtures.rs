//! Identifiers, times, slots and proposals that are functions of small numbers.

#![expect(clippy::unwrap_used, reason = "these values are valid by construction, and a test that has others must fail")]

use std::sync::atomic::{AtomicU64, Ordering};

use kalends_kernel::{AgentId, CalendarId, Entropy, EventId, OrgId, SlotId};
use kalends_time::{SignedDuration, Span, Timestamp};
use proptest::prelude::*;

use crate::{NewProposal, NewSlot, Proposal, ResponseKind, Weight};

/// The time at which the proposals are made: 2026-03-02T08:00:00Z.
pub const NOW: Timestamp = Timestamp::from_micros(1_772_438_400_000_000);

/// The number of participants of the proposals of [`histories`](super::histories).
pub const PARTICIPANTS: usize = 4;

/// The starts of the slots of the proposals of [`histories`](super::histories), in minutes after [`NOW`].
pub const STARTS: [i64; 3] = [60, 90, 120];

/// A source of bytes that never repeat: a counter.
#[derive(Debug)]
pub struct Counting(AtomicU64);

impl Entropy for Counting {
    fn fill(&self, bytes: &mut [u8]) {
        let count = self.0.fetch_add(1, Ordering::Relaxed).to_le_bytes();
        bytes.iter_mut().zip(count.iter().cycle()).for_each(|(byte, value)| *byte = *value);
    }
}

impl Counting {
    /// A source that counts from this number on.
    pub const fn starting_at(first: u64) -> Self {
        Self(AtomicU64::new(first))
    }
}

/// The organization of the proposals.
pub fn org() -> OrgId {
    "org_00000000000000000000000001".parse().unwrap()
}

/// An agent by its number. The organizer is agent 0, and the participants are agents 1, 2 and so on.
pub fn agent(number: usize) -> AgentId {
    format!("agt_{number:026}").parse().unwrap()
}

/// A calendar by its number. Slots without a calendar of their own are on calendar 1.
pub fn calendar(number: usize) -> CalendarId {
    format!("cal_{number:026}").parse().unwrap()
}

/// The event of the best slot.
pub fn event() -> EventId {
    "evt_00000000000000000000000001".parse().unwrap()
}

/// A slot of no proposal of this module.
pub fn foreign_slot() -> SlotId {
    "slt_00000000000000000000000009".parse().unwrap()
}

/// A time in minutes after [`NOW`].
pub fn at(minutes: i64) -> Timestamp {
    NOW + SignedDuration::minutes(minutes)
}

/// A slot that starts `start` minutes after [`NOW`] and lasts `length` minutes, with a weight from 0 to 10.
///
/// # Panics
///
/// If the length is not positive or the weight is out of range.
pub fn slot(start: i64, length: i64, weight: f64) -> NewSlot {
    let span = Span::new(at(start), at(start + length)).unwrap();
    NewSlot::new(span).with_weight(Weight::parse("weight", weight).unwrap())
}

/// A proposal of agent 0 to agents 1 up to `participants`.
pub fn new_proposal(slots: Vec<NewSlot>, participants: usize) -> NewProposal {
    let participants = (1..=participants).map(agent).collect();
    NewProposal::new("Kick-off", agent(0), participants, calendar(1), slots)
}

/// The same, created at [`NOW`].
///
/// # Panics
///
/// If the slots or the number of participants are refused.
pub fn made(slots: Vec<NewSlot>, participants: usize) -> Proposal {
    Proposal::create(org(), new_proposal(slots, participants), NOW, &Counting::starting_at(1)).unwrap()
}

/// Any kind of response.
pub fn kinds() -> impl Strategy<Value = ResponseKind> {
    proptest::sample::select(ResponseKind::ALL)
}
