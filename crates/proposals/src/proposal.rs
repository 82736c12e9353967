//! Proposals and their transitions.

use std::collections::{BTreeMap, BTreeSet};

use kalends_kernel::{
    AgentId, CalendarId, Entropy, EventId, FieldError, FieldErrors, Metadata, OrgId, ProposalId, ResponseId, SlotId,
    Version, bounded_text, optional_text,
};
use kalends_time::{Span, Timestamp};

use crate::{
    COUNTER_SLOTS_MAX, CancelReason, MESSAGE_MAX, NewResponse, NewSlot, ProposalError, Response, ResponseKind,
    SLOTS_MAX, Slot, State,
};

/// The maximum number of characters of a title.
pub const TITLE_MAX: usize = 500;
/// The maximum number of characters of a description.
pub const DESCRIPTION_MAX: usize = 5_000;
/// The maximum number of participants of a proposal.
pub const PARTICIPANTS_MAX: usize = 50;

/// A proposal as stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// The identifier.
    pub id: ProposalId,
    /// The organization.
    pub org: OrgId,
    /// The title, 1-500 characters. The event gets it too.
    pub title: String,
    /// The description, at most 5,000 characters. The event gets it too.
    pub description: Option<String>,
    /// The agent that organizes the proposal.
    pub organizer: AgentId,
    /// The agents that are asked, in the order given, each once.
    pub participants: Vec<AgentId>,
    /// The calendar for the event, unless the slot names another.
    pub calendar: CalendarId,
    /// The offered slots, at least one.
    pub slots: Vec<Slot>,
    /// The responses, at most one of each participant, in the order in which they were given.
    pub responses: Vec<Response>,
    /// The stored state. [`Self::state_at`] returns the state at an instant.
    pub state: State,
    /// From this instant on, it is expired unless it was settled before.
    pub expires_at: Timestamp,
    /// Whether its slots are reserved while it is pending.
    pub hold_slots: bool,
    /// Whether resolving skips slots that are taken.
    pub skip_taken: bool,
    /// The caller's own data.
    pub metadata: Metadata,
    /// The row's version.
    pub version: Version,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// The fields of a new proposal. [`Proposal::create`] checks every bound.
#[derive(Debug, Clone, PartialEq)]
pub struct NewProposal {
    /// The title: 1 to [`TITLE_MAX`] characters, not blank.
    pub title: String,
    /// The description, at most [`DESCRIPTION_MAX`] characters.
    pub description: Option<String>,
    /// The agent that organizes the proposal.
    pub organizer: AgentId,
    /// The agents that are asked: 1 to [`PARTICIPANTS_MAX`], each once.
    pub participants: Vec<AgentId>,
    /// The calendar for the event, unless the slot names another.
    pub calendar: CalendarId,
    /// The offered slots: 1 to [`SLOTS_MAX`].
    pub slots: Vec<NewSlot>,
    /// When it expires; by default when its last slot starts.
    pub expires_at: Option<Timestamp>,
    /// Whether its slots are reserved while it is pending.
    pub hold_slots: bool,
    /// Whether resolving skips slots that are taken.
    pub skip_taken: bool,
    /// The caller's own data.
    pub metadata: Metadata,
}

/// The times that a proposal reserves, by calendar.
pub type TakenSpans = BTreeMap<CalendarId, Vec<Span>>;

impl Proposal {
    /// A new, pending proposal.
    ///
    /// # Errors
    /// Every field of [`NewProposal`] that exceeds its bounds, every slot that has begun at `now`, and an expiry that
    /// is not after `now`.
    pub fn create(org: OrgId, new: NewProposal, now: Timestamp, entropy: &dyn Entropy) -> Result<Self, FieldErrors> {
        let mut errors = FieldErrors::default();
        errors.take(bounded_text("title", &new.title, 1, TITLE_MAX));
        errors.take(optional_text("description", new.description.as_deref(), DESCRIPTION_MAX));
        if !(1..=PARTICIPANTS_MAX).contains(&new.participants.len()) {
            let message = format!("must name 1 to {PARTICIPANTS_MAX} agents, got {}", new.participants.len());
            errors.push(FieldError::new("participant_agent_ids", message));
        }
        let mut named = BTreeSet::new();
        for (index, agent) in new.participants.iter().enumerate().filter(|(_, agent)| !named.insert(**agent)) {
            let message = format!("names {agent} a second time");
            errors.push(FieldError::new(format!("participant_agent_ids[{index}]"), message));
        }
        if !(1..=SLOTS_MAX).contains(&new.slots.len()) {
            let message = format!("must hold 1 to {SLOTS_MAX} slots, got {}", new.slots.len());
            errors.push(FieldError::new("slots", message));
        }
        for (index, slot) in new.slots.iter().enumerate().filter(|(_, slot)| slot.span.start() <= now) {
            let message = format!("must be in the future, after {now}; got {}", slot.span.start());
            errors.push(FieldError::new(format!("slots[{index}].start_time"), message));
        }
        if let Some(at) = new.expires_at.filter(|at| *at <= now) {
            errors.push(FieldError::new("expires_at", format!("must be in the future, after {now}; got {at}")));
        }
        errors.finish()?;
        let last_start = new.slots.iter().map(|slot| slot.span.start()).max();
        let slot = |new: NewSlot| {
            let NewSlot { span, weight, calendar } = new;
            Slot { id: SlotId::new(now, entropy), span, weight, calendar }
        };
        Ok(Self {
            id: ProposalId::new(now, entropy),
            org,
            title: new.title,
            description: new.description,
            organizer: new.organizer,
            participants: new.participants,
            calendar: new.calendar,
            slots: new.slots.into_iter().map(slot).collect(),
            responses: Vec::new(),
            state: State::Pending,
            expires_at: new.expires_at.or(last_start).unwrap_or(now),
            hold_slots: new.hold_slots,
            skip_taken: new.skip_taken,
            metadata: new.metadata,
            version: Version::FIRST,
            created_at: now,
            updated_at: now,
        })
    }

    /// The state at `now`. A pending proposal whose expiry has passed counts as expired, even if that has not been
    /// written yet.
    pub fn state_at(&self, now: Timestamp) -> State {
        if self.state == State::Pending && self.expires_at <= now { State::Expired } else { self.state }
    }

    /// Whether every participant has responded.
    pub fn is_answered(&self) -> bool {
        self.participants.iter().all(|agent| self.has_responded(*agent))
    }

    fn has_responded(&self, agent: AgentId) -> bool {
        self.responses.iter().any(|response| response.agent == agent)
    }

    /// The slot with that identifier.
    pub fn slot(&self, id: SlotId) -> Option<&Slot> {
        self.slots.iter().find(|slot| slot.id == id)
    }

    /// The slot with that identifier. `param` is the field of the error if there is none.
    fn own(&self, param: &str, id: SlotId) -> Result<&Slot, FieldError> {
        let message = || format!("must be a slot of this proposal, got {id}");
        self.slot(id).ok_or_else(|| FieldError::new(param, message()))
    }

    /// The calendar for the event of a slot.
    pub fn calendar_of(&self, slot: &Slot) -> CalendarId {
        slot.calendar.unwrap_or(self.calendar)
    }

    /// The times that it reserves while it is pending, by calendar. Empty unless `hold_slots` is set.
    pub fn reserves(&self) -> TakenSpans {
        let mut reserved = TakenSpans::new();
        for slot in self.slots.iter().filter(|_| self.hold_slots) {
            reserved.entry(self.calendar_of(slot)).or_default().push(slot.span);
        }
        reserved
    }

    /// The proposal with a participant's response, still pending. If [`Self::is_answered`] is then true, the caller
    /// resolves the proposal.
    ///
    /// # Errors
    /// In this order: [`ProposalError::NotParticipant`], [`ProposalError::NotPending`], [`ProposalError::Duplicate`],
    /// and [`ProposalError::Invalid`] for an acceptance without a slot, a slot of another proposal, and fields of
    /// [`NewResponse`] that exceed their bounds.
    pub fn respond(
        &self,
        agent: AgentId,
        new: NewResponse,
        now: Timestamp,
        entropy: &dyn Entropy,
    ) -> Result<Self, ProposalError> {
        if !self.participants.contains(&agent) {
            return Err(ProposalError::NotParticipant);
        }
        self.pending(now)?;
        if self.has_responded(agent) {
            return Err(ProposalError::Duplicate(agent));
        }
        let mut errors = FieldErrors::default();
        match new.selected {
            Some(selected) => drop(errors.take(self.own("selected_slot_id", selected))),
            None if new.kind == ResponseKind::Accept => {
                let message = "is required to accept: a slot of this proposal";
                errors.push(FieldError::new("selected_slot_id", message));
            }
            None => {}
        }
        if new.counter_slots.len() > COUNTER_SLOTS_MAX {
            let message = format!("must hold at most {COUNTER_SLOTS_MAX} slots, got {}", new.counter_slots.len());
            errors.push(FieldError::new("counter_slots", message));
        }
        errors.take(optional_text("message", new.message.as_deref(), MESSAGE_MAX));
        errors.finish()?;
        let NewResponse { kind, selected, counter_slots, message } = new;
        let id = ResponseId::new(now, entropy);
        let mut changed = self.changed(State::Pending, now);
        changed.responses.push(Response { id, agent, kind, selected, counter_slots, message, created_at: now });
        Ok(changed)
    }

    /// The proposal after `slot` became `event`.
    ///
    /// # Errors
    /// [`ProposalError::NotPending`], [`ProposalError::Invalid`] for a slot of another proposal, and
    /// [`ProposalError::NoSlotLeft`] for a slot that does not start after `now`.
    pub fn confirmed(&self, slot: SlotId, event: EventId, now: Timestamp) -> Result<Self, ProposalError> {
        self.pending(now)?;
        if self.own("slot_id", slot).map_err(FieldErrors::from)?.span.start() <= now {
            return Err(ProposalError::NoSlotLeft);
        }
        Ok(self.changed(State::Confirmed { slot, event }, now))
    }

    /// The cancelled proposal.
    ///
    /// # Errors
    /// [`ProposalError::NotPending`].
    pub fn cancelled(&self, reason: CancelReason, now: Timestamp) -> Result<Self, ProposalError> {
        self.pending(now)?;
        Ok(self.changed(State::Cancelled(reason), now))
    }

    /// The expired proposal; `None` if its expiry has not passed at `now`, or if it has ended before.
    pub fn expired(&self, now: Timestamp) -> Option<Self> {
        let over = self.state == State::Pending && self.expires_at <= now;
        over.then(|| self.changed(State::Expired, now))
    }

    /// Refuses a proposal that has ended.
    pub(crate) fn pending(&self, now: Timestamp) -> Result<(), ProposalError> {
        match self.state_at(now) {
            State::Pending => Ok(()),
            ended => Err(ProposalError::NotPending(ended.status())),
        }
    }

    fn changed(&self, state: State, now: Timestamp) -> Self {
        Self { state, version: self.version.next(), updated_at: now, ..self.clone() }
    }
}
