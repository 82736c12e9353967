//! The state machine of a proposal as a plain model, and histories to compare the two.

#![expect(clippy::unwrap_used, reason = "what is drawn is valid by construction, and a failed draw must fail the test")]

use kalends_kernel::{AgentId, Entropy, EventId, SlotId};
use kalends_time::Timestamp;
use proptest::prelude::*;

use super::fixtures::{
    Counting, NOW, PARTICIPANTS, STARTS, agent, at, event, foreign_slot, kinds, new_proposal, org, slot,
};
use crate::{CancelReason, NewResponse, Proposal, ProposalError, ResponseKind, Slot, State, Status, Verdict};

/// What is known of a proposal: who responded how, how the proposal ended, and when it expires. It does not rank slots.
#[derive(Debug, Clone)]
pub struct Model {
    responses: Vec<(AgentId, ResponseKind)>,
    state: State,
    expires: Timestamp,
    participants: Vec<AgentId>,
    slots: Vec<(SlotId, Timestamp)>,
    /// How many responses accept each slot.
    accepts: Vec<u32>,
    min_accepts: u32,
}

/// One operation on a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// A response of an agent that selects a slot, or a slot of another proposal.
    Respond {
        /// The number of the agent. Only 1 to [`PARTICIPANTS`] are participants.
        who: usize,
        /// The kind of the response.
        kind: ResponseKind,
        /// The index of the slot. One that is too large stands for a slot of another proposal.
        slot: Option<usize>,
    },
    /// The confirmation of a slot, or of a slot of another proposal.
    Confirm {
        /// The index of the slot. One that is too large stands for a slot of another proposal.
        slot: usize,
    },
    /// A cancellation.
    Cancel(CancelReason),
    /// The expiry.
    Expire,
    /// The end that the verdict asks for.
    Resolve,
}

/// What an operation is refused for. Field errors are compared by their first field.
#[derive(Debug, PartialEq)]
pub enum Refused {
    /// The first field at fault.
    Field(String),
    /// Any other error.
    Other(ProposalError),
}

impl From<ProposalError> for Refused {
    fn from(error: ProposalError) -> Self {
        match error {
            ProposalError::Invalid(errors) => Self::Field(errors.first().param),
            other => Self::Other(other),
        }
    }
}

impl Model {
    /// The model of a proposal to which nobody has responded.
    pub fn of(proposal: &Proposal) -> Self {
        Self {
            responses: Vec::new(),
            state: State::Pending,
            expires: proposal.expires_at(),
            participants: proposal.participants().to_vec(),
            slots: proposal.slots().iter().map(|slot| (slot.id(), slot.span().start())).collect(),
            accepts: vec![0; proposal.slots().len()],
            min_accepts: proposal.min_accepts(),
        }
    }

    /// The status without regard to the time.
    pub fn status(&self) -> Status {
        self.state.status()
    }

    /// How the proposal ended, or that it is pending.
    pub fn state(&self) -> State {
        self.state
    }

    /// The responses in their order: the agent and the kind.
    pub fn responses(&self) -> &[(AgentId, ResponseKind)] {
        &self.responses
    }

    /// Records which slot was confirmed. The model does not rank slots, so an applied [`Operation::Resolve`] leaves this
    /// open unless it cancels the proposal.
    pub fn confirm(&mut self, slot: SlotId, event: EventId) {
        self.state = State::Confirmed { slot, event };
    }

    /// The status at a time.
    pub fn status_at(&self, now: Timestamp) -> Status {
        if self.state == State::Pending && now >= self.expires { Status::Expired } else { self.state.status() }
    }

    fn pending(&self, now: Timestamp) -> Result<(), Refused> {
        match self.status_at(now) {
            Status::Pending => Ok(()),
            ended => Err(Refused::Other(ProposalError::NotPending(ended))),
        }
    }

    fn declined(&self) -> bool {
        self.responses.iter().all(|(_, kind)| *kind == ResponseKind::Decline)
    }

    /// Applies an operation at a time.
    ///
    /// # Errors
    ///
    /// The error that the proposal must return too. The model is then unchanged.
    pub fn apply(&mut self, operation: Operation, now: Timestamp) -> Result<(), Refused> {
        let refuse = |error| Err(Refused::Other(error));
        match operation {
            Operation::Respond { who, kind, slot } => {
                if !self.participants.contains(&agent(who)) {
                    return refuse(ProposalError::NotParticipant);
                }
                self.pending(now)?;
                if self.responses.iter().any(|(given, _)| *given == agent(who)) {
                    return refuse(ProposalError::Duplicate(agent(who)));
                }
                if slot.map_or(kind == ResponseKind::Accept, |slot| slot >= self.slots.len()) {
                    return Err(Refused::Field("selected_slot_id".to_owned()));
                }
                if let (ResponseKind::Accept, Some(slot)) = (kind, slot) {
                    self.accepts[slot] += 1;
                }
                self.responses.push((agent(who), kind));
            }
            Operation::Confirm { slot } => {
                self.pending(now)?;
                match self.slots.get(slot) {
                    None => return Err(Refused::Field("slot_id".to_owned())),
                    Some((_, start)) if *start <= now => return refuse(ProposalError::NoSlotLeft),
                    Some(_) if self.responses.is_empty() => return refuse(ProposalError::NoResponses),
                    Some(_) if self.declined() => return refuse(ProposalError::AllDeclined),
                    Some(_) if self.accepts[slot] < self.min_accepts => {
                        return refuse(ProposalError::TooFewAccepts(self.min_accepts));
                    }
                    Some((slot, _)) => self.state = State::Confirmed { slot: *slot, event: event() },
                }
            }
            Operation::Cancel(reason) => {
                self.pending(now)?;
                if reason == CancelReason::AllDeclined && self.responses.is_empty() {
                    return refuse(ProposalError::NoResponses);
                }
                if reason == CancelReason::AllDeclined && !self.declined() {
                    return refuse(ProposalError::NotAllDeclined);
                }
                self.state = State::Cancelled(reason);
            }
            Operation::Expire => {
                if self.state != State::Pending {
                    return refuse(ProposalError::NotPending(self.state.status()));
                }
                if now < self.expires {
                    return refuse(ProposalError::NotExpired(self.expires));
                }
                self.state = State::Expired;
            }
            // The ranking is not part of the model.
            Operation::Resolve => {
                self.pending(now)?;
                if self.responses.is_empty() {
                    return refuse(ProposalError::NoResponses);
                }
                if self.declined() {
                    self.state = State::Cancelled(CancelReason::AllDeclined);
                } else if self.slots.iter().all(|(_, start)| *start <= now) {
                    return refuse(ProposalError::NoSlotLeft);
                } else if !self
                    .slots
                    .iter()
                    .zip(&self.accepts)
                    .any(|((_, start), accepts)| *start > now && *accepts >= self.min_accepts)
                {
                    return refuse(ProposalError::TooFewAccepts(self.min_accepts));
                }
            }
        }
        Ok(())
    }
}

/// The proposal after an operation at a time.
///
/// # Errors
///
/// The error of the transition that the operation stands for.
pub fn applied(
    proposal: &Proposal,
    operation: Operation,
    now: Timestamp,
    entropy: &dyn Entropy,
) -> Result<Proposal, ProposalError> {
    let selected = |slot: usize| proposal.slots().get(slot).map_or_else(foreign_slot, Slot::id);
    match operation {
        Operation::Respond { who, kind, slot } => {
            let response = NewResponse::new(kind, slot.map(selected));
            proposal.respond(agent(who), response, now, entropy)
        }
        Operation::Confirm { slot } => proposal.confirmed(selected(slot), event(), now),
        Operation::Cancel(reason) => proposal.cancelled(reason, now),
        Operation::Expire => proposal.expired(now),
        Operation::Resolve => match proposal.verdict(now)? {
            Verdict::Ranked(ranking) => proposal.confirmed(ranking.best().id(), event(), now),
            Verdict::AllDeclined => proposal.cancelled(CancelReason::AllDeclined, now),
        },
    }
}

/// Up to 15 operations on a proposal of [`histories`], each with its time in minutes after [`NOW`](super::NOW).
pub fn operations() -> impl Strategy<Value = Vec<(Operation, i64)>> {
    let respond = (0..=PARTICIPANTS + 1, kinds(), proptest::option::weighted(0.8, 0..=STARTS.len()));
    let operation = prop_oneof![
        6 => respond.prop_map(|(who, kind, slot)| Operation::Respond { who, kind, slot }),
        1 => (0..=STARTS.len()).prop_map(|slot| Operation::Confirm { slot }),
        1 => proptest::sample::select(CancelReason::ALL).prop_map(Operation::Cancel),
        1 => Just(Operation::Expire),
        1 => Just(Operation::Resolve),
    ];
    // Time also runs backwards, as between machines whose clocks differ.
    proptest::collection::vec((operation, prop_oneof![3 => 0..60_i64, 1 => 0..140_i64]), 1..16)
}

/// A pending proposal with slots at [`STARTS`] and [`PARTICIPANTS`] participants, with or without an expiry of its own and
/// a minimum of acceptances, and operations on it.
pub fn histories() -> impl Strategy<Value = (Proposal, Vec<(Operation, i64)>)> {
    let expiry = prop_oneof![Just(None), Just(Some(80)), Just(Some(135))];
    let min_accepts = prop_oneof![2 => Just(0), 1 => 1..=3_u32];
    (expiry, min_accepts, operations()).prop_map(|(expires, min_accepts, operations)| {
        let slots = STARTS.map(|start| slot(start, 30, 1.0)).to_vec();
        let new = new_proposal(slots, PARTICIPANTS).with_expiry(expires.map(at));
        let new = new.with_min_accepts(min_accepts);
        (Proposal::create(org(), new, NOW, &Counting::starting_at(1)).unwrap(), operations)
    })
}
