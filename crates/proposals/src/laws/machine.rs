//! The state machine of a proposal, compared with a model.

use super::*;

/// The model: who responded how, how the proposal ended, and when it expires. All in minutes after [`NOW`].
struct Model {
    responses: Vec<(usize, ResponseKind)>,
    state: State,
    expires: i64,
    slots: Vec<(SlotId, i64)>,
}

/// One operation on a proposal.
#[derive(Debug, Clone, Copy)]
enum Operation {
    /// A response of an agent that selects a slot, or a slot of another proposal.
    Respond {
        who: usize,
        kind: ResponseKind,
        slot: Option<usize>,
    },
    /// The confirmation of a slot, or of a slot of another proposal.
    Confirm {
        slot: usize,
    },
    Cancel(CancelReason),
    Expire,
    /// The end that the verdict asks for.
    Resolve,
}

const PARTICIPANTS: usize = 4;
/// The starts of the slots, in minutes.
const STARTS: [i64; 3] = [60, 90, 120];

fn foreign() -> SlotId {
    "slt_00000000000000000000000009".parse().unwrap()
}

/// What an operation is refused for. Field errors are compared by their first field.
#[derive(Debug, PartialEq)]
enum Refused {
    Field(String),
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
    fn status_at(&self, minute: i64) -> Status {
        if self.state == State::Pending && minute >= self.expires { Status::Expired } else { self.state.status() }
    }

    fn pending(&self, minute: i64) -> Result<(), Refused> {
        match self.status_at(minute) {
            Status::Pending => Ok(()),
            ended => Err(Refused::Other(ProposalError::NotPending(ended))),
        }
    }

    fn declined(&self) -> bool {
        self.responses.iter().all(|(_, kind)| *kind == Decline)
    }

    fn selected(&self, slot: usize) -> SlotId {
        self.slots.get(slot).map_or_else(foreign, |(id, _)| *id)
    }

    fn apply(&mut self, operation: Operation, minute: i64) -> Result<(), Refused> {
        let refuse = |error| Err(Refused::Other(error));
        match operation {
            Operation::Respond { who, kind, slot } => {
                if !(1..=PARTICIPANTS).contains(&who) {
                    return refuse(ProposalError::NotParticipant);
                }
                self.pending(minute)?;
                if self.responses.iter().any(|(agent, _)| *agent == who) {
                    return refuse(ProposalError::Duplicate(agent(who)));
                }
                if slot.map_or(kind == Accept, |slot| slot >= self.slots.len()) {
                    return Err(Refused::Field("selected_slot_id".to_owned()));
                }
                self.responses.push((who, kind));
            }
            Operation::Confirm { slot } => {
                self.pending(minute)?;
                match self.slots.get(slot) {
                    None => return Err(Refused::Field("slot_id".to_owned())),
                    Some((_, start)) if *start <= minute => return refuse(ProposalError::NoSlotLeft),
                    Some(_) if self.responses.is_empty() => return refuse(ProposalError::NoResponses),
                    Some(_) if self.declined() => return refuse(ProposalError::AllDeclined),
                    Some((slot, _)) => self.state = State::Confirmed { slot: *slot, event: event() },
                }
            }
            Operation::Cancel(reason) => {
                self.pending(minute)?;
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
                if minute < self.expires {
                    return refuse(ProposalError::NotExpired(at(self.expires)));
                }
                self.state = State::Expired;
            }
            // The law of the winner is elsewhere. Here only the end counts.
            Operation::Resolve => {
                self.pending(minute)?;
                if self.responses.is_empty() {
                    return refuse(ProposalError::NoResponses);
                }
                if self.declined() {
                    self.state = State::Cancelled(CancelReason::AllDeclined);
                } else if self.slots.iter().all(|(_, start)| *start <= minute) {
                    return refuse(ProposalError::NoSlotLeft);
                }
            }
        }
        Ok(())
    }
}

fn applied(
    proposal: &Proposal,
    model: &Model,
    operation: Operation,
    minute: i64,
    entropy: &dyn Entropy,
) -> Result<Proposal, ProposalError> {
    let now = at(minute);
    match operation {
        Operation::Respond { who, kind, slot } => {
            let response = NewResponse::new(kind, slot.map(|slot| model.selected(slot)));
            proposal.respond(agent(who), response, now, entropy)
        }
        Operation::Confirm { slot } => proposal.confirmed(model.selected(slot), event(), now),
        Operation::Cancel(reason) => proposal.cancelled(reason, now),
        Operation::Expire => proposal.expired(now),
        Operation::Resolve => match proposal.verdict(now)? {
            Verdict::Ranked(ranking) => proposal.confirmed(ranking.best().id(), event(), now),
            Verdict::AllDeclined => proposal.cancelled(CancelReason::AllDeclined, now),
        },
    }
}

fn operations() -> impl Strategy<Value = Vec<(Operation, i64)>> {
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

proptest! {
    #[test]
    fn a_proposal_is_what_its_model_is(
        operations in operations(), expires in prop_oneof![Just(None), Just(Some(80)), Just(Some(135))],
    ) {
        let slots = STARTS.map(|start| slot(start, 30, 1.0)).to_vec();
        let new = new(slots, PARTICIPANTS).with_expiry(expires.map(at));
        let mut proposal = Proposal::create(org(), new, NOW, &entropy()).unwrap();
        let mut model = Model {
            responses: Vec::new(),
            state: State::Pending,
            expires: expires.unwrap_or(120),
            slots: proposal.slots().iter().map(Slot::id).zip(STARTS).collect(),
        };
        let source = Counting(AtomicU64::new(5_000));
        let mut changes = 0;
        for (operation, minute) in operations {
            let done = applied(&proposal, &model, operation, minute, &source);
            let expected = model.apply(operation, minute);
            prop_assert_eq!(done.as_ref().map(drop).map_err(|error| error.clone().into()), expected);
            if let Ok(next) = done {
                if let (Operation::Resolve, State::Confirmed { slot, .. }) = (operation, next.state()) {
                    model.state = State::Confirmed { slot, event: event() };
                }
                changes += 1;
                prop_assert_eq!(proposal.state(), State::Pending, "it ends once");
                let response = next.responses().get(proposal.responses().len()).cloned();
                let expected = (proposal.version(), response);
                let Ok(Change::Update { seen, response, .. }) = Change::update(&proposal, next.clone()) else {
                    return Err(TestCaseError::fail("no change"));
                };
                prop_assert_eq!((seen, response), expected);
                proposal = next;
            }
            // Nothing but the state, the responses and the version changes.
            prop_assert_eq!(proposal.state(), model.state);
            prop_assert_eq!(proposal.state_at(at(minute)).status(), model.status_at(minute));
            let responded: Vec<_> = proposal.responses().iter().map(|given| (given.agent(), given.kind())).collect();
            let expected: Vec<_> = model.responses.iter().map(|(who, kind)| (agent(*who), *kind)).collect();
            prop_assert_eq!(responded, expected);
            prop_assert_eq!(proposal.is_answered(), model.responses.len() == PARTICIPANTS);
            prop_assert_eq!(proposal.version().0, 1 + changes);
            // What a store keeps of it is accepted.
            prop_assert_eq!(Proposal::from_stored(proposal.clone().into_stored()), Ok(proposal.clone()));
        }
    }
}
