//! Proposals and their transitions.

use std::collections::{BTreeMap, BTreeSet};

use kalends_kernel::{
    AgentId, CalendarId, Entropy, EventId, FieldError, FieldErrors, Metadata, OrgId, ProposalId, ResponseId, SlotId,
    Version,
};
use kalends_time::{Span, Timestamp};

use crate::{
    CancelReason, CreatedEvent, NewProposal, NewResponse, NewSlot, Placement, ProposalError, Response, ResponseKind,
    Slot, State, StoredError, StoredProposal, bounds::Bounds,
};

/// A proposal.
///
/// [`Self::create`] makes a pending one. Every transition returns the next proposal, with the next version:
///
/// | from | transition | to |
/// |---|---|---|
/// | pending | [`Self::respond`] | pending |
/// | pending | [`Self::confirmed`] | confirmed |
/// | pending | [`Self::cancelled`] | cancelled |
/// | pending | [`Self::expired`] | expired |
///
/// No transition leaves the other states. From its expiry on, a pending proposal can only expire. A store reads a
/// proposal with [`Self::from_stored`], which accepts only what the transitions return.
///
/// ```
#[doc = include_str!("offered.txt")]
/// use kalends_kernel::EventId;
/// use kalends_proposals::{NewResponse, State, Verdict};
///
/// // `proposal` is of Ada, who asks Ben whether ten or noon suits him.
/// assert_eq!((proposal.organizer(), proposal.participants()), (ada, &[ben][..]));
/// let at_noon = proposal.slots()[1];
/// let answered = proposal.respond(ben, NewResponse::accept(at_noon.id()), now, &entropy)?;
/// let Verdict::Ranked(ranking) = answered.verdict(now)? else { return Err("Ben accepts".into()) };
/// assert_eq!(ranking.best(), &at_noon);
/// let event = EventId::new(now, &entropy);
/// let confirmed = answered.confirmed(at_noon.id(), event, now)?;
/// assert_eq!(confirmed.state(), State::Confirmed { slot: at_noon.id(), event });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal(pub(crate) StoredProposal);

/// The times that a proposal reserves, by calendar. [`Proposal::reserves`] has an example.
pub type TakenSpans = BTreeMap<CalendarId, Vec<Span>>;

impl Proposal {
    /// A new, pending proposal. [`Proposal`] has an example.
    ///
    /// # Errors
    /// Every field of [`NewProposal`] that exceeds its bounds, every slot that has begun at `now`, and an expiry that
    /// is not after `now`. Also `slots` if `entropy` repeats itself, so that two slots get the same identifier.
    pub fn create(org: OrgId, new: NewProposal, now: Timestamp, entropy: &dyn Entropy) -> Result<Self, FieldErrors> {
        let bounds = Bounds {
            title: &new.title,
            description: new.description.as_deref(),
            organizer: new.organizer,
            participants: &new.participants,
            slots: new.slots.iter().map(|slot| slot.span).collect(),
            expires_at: new.expires_at,
            min_accepts: new.min_accepts,
            placement: new.placement,
        };
        bounds.check(now)?;
        let last_start = new.slots.iter().map(|slot| slot.span.start()).max();
        let slot = |new: NewSlot| Slot::from_stored(SlotId::new(now, entropy), new);
        let proposal = Self(StoredProposal {
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
            min_accepts: new.min_accepts,
            placement: new.placement,
            participant_events: Vec::new(),
            metadata: new.metadata,
            version: Version::FIRST,
            created_at: now,
            updated_at: now,
        });
        match proposal.repeated_slot() {
            None => Ok(proposal),
            Some(id) => Err(FieldError::new("slots", format!("got the identifier {id} for two of them")).into()),
        }
    }

    /// The proposal from what a store kept. [`StoredProposal`] has an example.
    ///
    /// The times of changes are not compared with each other, because the clocks of two machines may differ.
    ///
    /// # Errors
    /// [`StoredError`] for what no sequence of [`Proposal::create`] and the transitions returns.
    pub fn from_stored(stored: StoredProposal) -> Result<Self, StoredError> {
        let bounds = Bounds {
            title: &stored.title,
            description: stored.description.as_deref(),
            organizer: stored.organizer,
            participants: &stored.participants,
            slots: stored.slots.iter().map(Slot::span).collect(),
            expires_at: Some(stored.expires_at),
            min_accepts: stored.min_accepts,
            placement: stored.placement,
        };
        bounds.check(stored.created_at).map_err(|errors| StoredError::Field(errors.first()))?;
        let (state, version) = (stored.state, stored.version);
        let proposal = Self(stored);
        if let Some(twice) = proposal.repeated_slot() {
            return Err(StoredError::SlotTwice(twice));
        }
        proposal.check_responses()?;
        let possible = match state {
            State::Pending | State::Expired | State::Cancelled(CancelReason::OrganizerCancelled) => true,
            State::Cancelled(CancelReason::AllDeclined) => proposal.all_declined() && !proposal.0.responses.is_empty(),
            State::Confirmed { slot, .. } => {
                proposal.slot(slot).is_some() && !proposal.all_declined() && proposal.has_enough_accepts(slot)
            }
        };
        if !possible {
            return Err(StoredError::State(state.status()));
        }
        proposal.check_events(&proposal.0.participant_events).map_err(StoredError::Event)?;
        if let (false, Some(event)) = (matches!(state, State::Confirmed { .. }), proposal.0.participant_events.first())
        {
            return Err(StoredError::Event(event.agent));
        }
        // Every response and the end have counted as a change.
        let changes = proposal.0.responses.len().saturating_add(usize::from(state != State::Pending));
        if i64::try_from(changes).map_or(true, |changes| version.0 < Version::FIRST.0.saturating_add(changes)) {
            return Err(StoredError::Version(version));
        }
        Ok(proposal)
    }

    /// The fields that a store keeps. [`StoredProposal`] has an example.
    pub fn into_stored(self) -> StoredProposal {
        self.0
    }

    /// Checks that each response is the only one of a participant, and selects a slot of this proposal if any.
    fn check_responses(&self) -> Result<(), StoredError> {
        let mut responded = BTreeSet::new();
        for response in &self.0.responses {
            let agent = response.agent;
            if !self.0.participants.contains(&agent) {
                return Err(StoredError::NotParticipant(agent));
            }
            if !responded.insert(agent) {
                return Err(StoredError::RespondedTwice(agent));
            }
            let mut errors = FieldErrors::default();
            self.check_response(&response.fields, &mut errors);
            errors.finish().map_err(|errors| StoredError::Response(agent, errors.first()))?;
        }
        Ok(())
    }

    /// The identifier.
    pub const fn id(&self) -> ProposalId {
        self.0.id
    }

    /// The organization.
    pub const fn org(&self) -> OrgId {
        self.0.org
    }

    /// The title, 1 to [`TITLE_MAX`](crate::TITLE_MAX) characters. The event gets it too.
    pub fn title(&self) -> &str {
        &self.0.title
    }

    /// The description, at most [`DESCRIPTION_MAX`](crate::DESCRIPTION_MAX) characters. The event gets it too.
    pub fn description(&self) -> Option<&str> {
        self.0.description.as_deref()
    }

    /// The agent that organizes the proposal.
    pub const fn organizer(&self) -> AgentId {
        self.0.organizer
    }

    /// The agents that are asked, 1 to [`PARTICIPANTS_MAX`](crate::PARTICIPANTS_MAX), in the order given, each once.
    pub fn participants(&self) -> &[AgentId] {
        &self.0.participants
    }

    /// The calendar for the event, unless the slot names another.
    pub const fn calendar(&self) -> CalendarId {
        self.0.calendar
    }

    /// The offered slots, 1 to [`SLOTS_MAX`](crate::SLOTS_MAX), each with an identifier of its own.
    pub fn slots(&self) -> &[Slot] {
        &self.0.slots
    }

    /// The responses, at most one of each participant, in the order in which they were given.
    pub fn responses(&self) -> &[Response] {
        &self.0.responses
    }

    /// The stored state. [`Self::state_at`] returns the state at an instant.
    pub const fn state(&self) -> State {
        self.0.state
    }

    /// From this instant on, it is expired unless it was settled before.
    pub const fn expires_at(&self) -> Timestamp {
        self.0.expires_at
    }

    /// Whether its slots are reserved while it is pending.
    pub const fn hold_slots(&self) -> bool {
        self.0.hold_slots
    }

    /// Whether resolving skips slots that are taken.
    pub const fn skip_taken(&self) -> bool {
        self.0.skip_taken
    }

    /// How many responses must accept a slot before it can be confirmed, 0 to the number of participants.
    pub const fn min_accepts(&self) -> u32 {
        self.0.min_accepts
    }

    /// Who gets an event when a slot is confirmed.
    pub const fn placement(&self) -> Placement {
        self.0.placement
    }

    /// The events of participants, in the order of the participants. Empty unless it is confirmed with
    /// [`Placement::All`].
    pub fn participant_events(&self) -> &[CreatedEvent] {
        &self.0.participant_events
    }

    /// The caller's own data.
    pub const fn metadata(&self) -> &Metadata {
        &self.0.metadata
    }

    /// The row's version. Every transition increments it.
    pub const fn version(&self) -> Version {
        self.0.version
    }

    /// When it was made.
    pub const fn created_at(&self) -> Timestamp {
        self.0.created_at
    }

    /// When it last changed.
    pub const fn updated_at(&self) -> Timestamp {
        self.0.updated_at
    }

    /// The state at `now`. A pending proposal whose expiry has passed counts as expired, even if that has not been
    /// written yet.
    ///
    /// ```
    #[doc = include_str!("offered.txt")]
    /// use kalends_proposals::State;
    ///
    /// assert_eq!(proposal.state_at(now), State::Pending);
    /// assert_eq!(proposal.state_at(proposal.expires_at()), State::Expired);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn state_at(&self, now: Timestamp) -> State {
        if self.0.state == State::Pending && self.0.expires_at <= now { State::Expired } else { self.0.state }
    }

    /// Whether every participant has responded.
    ///
    /// ```
    #[doc = include_str!("offered.txt")]
    /// use kalends_proposals::NewResponse;
    ///
    /// assert!(!proposal.is_answered());
    /// assert!(proposal.respond(ben, NewResponse::decline(), now, &entropy)?.is_answered());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_answered(&self) -> bool {
        self.0.participants.iter().all(|agent| self.has_responded(*agent))
    }

    /// The response of a participant, if it has responded.
    pub(crate) fn response_of(&self, agent: AgentId) -> Option<&Response> {
        self.0.responses.iter().find(|response| response.agent == agent)
    }

    fn has_responded(&self, agent: AgentId) -> bool {
        self.response_of(agent).is_some()
    }

    /// The identifier that two slots have, if any.
    pub(crate) fn repeated_slot(&self) -> Option<SlotId> {
        let mut ids = BTreeSet::new();
        self.0.slots.iter().map(|slot| slot.id).find(|id| !ids.insert(*id))
    }

    /// The slot with that identifier.
    ///
    /// ```
    #[doc = include_str!("offered.txt")]
    /// let [at_ten, _] = proposal.slots() else { unreachable!() };
    /// assert_eq!(proposal.slot(at_ten.id()), Some(at_ten));
    /// assert_eq!(proposal.slot("slt_00000000000000000000000001".parse()?), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn slot(&self, id: SlotId) -> Option<&Slot> {
        self.0.slots.iter().find(|slot| slot.id == id)
    }

    /// The slot with that identifier. `param` is the field of the error if there is none.
    fn own(&self, param: &str, id: SlotId) -> Result<&Slot, FieldError> {
        let message = || format!("must be a slot of this proposal, got {id}");
        self.slot(id).ok_or_else(|| FieldError::new(param, message()))
    }

    /// The calendar for the event of a slot.
    ///
    /// ```
    #[doc = include_str!("offered.txt")]
    /// assert_eq!(proposal.calendar_of(&proposal.slots()[0]), desk);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn calendar_of(&self, slot: &Slot) -> CalendarId {
        slot.calendar.unwrap_or(self.0.calendar)
    }

    /// The times that it reserves while it is pending, by calendar. Empty unless `hold_slots` is set.
    ///
    /// ```
    #[doc = include_str!("offered.txt")]
    /// use kalends_proposals::{NewProposal, NewSlot, Proposal};
    ///
    /// assert!(proposal.reserves().is_empty());
    /// let new = NewProposal::new("Kick-off", ada, vec![ben], desk, vec![NewSlot::new(ten)]).with_held_slots(true);
    /// let proposal = Proposal::create(org, new, now, &entropy)?;
    /// assert_eq!(proposal.reserves()[&desk], [ten]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reserves(&self) -> TakenSpans {
        let mut reserved = TakenSpans::new();
        for slot in self.0.slots.iter().filter(|_| self.0.hold_slots) {
            reserved.entry(self.calendar_of(slot)).or_default().push(slot.span);
        }
        reserved
    }

    /// The proposal with a participant's response, still pending. If [`Self::is_answered`] is then true, the caller
    /// resolves the proposal. [`Proposal`] has an example.
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
        if !self.0.participants.contains(&agent) {
            return Err(ProposalError::NotParticipant);
        }
        self.pending(now)?;
        if self.has_responded(agent) {
            return Err(ProposalError::Duplicate(agent));
        }
        let mut errors = FieldErrors::default();
        self.check_response(&new, &mut errors);
        errors.finish()?;
        let response = Response { id: ResponseId::new(now, entropy), agent, created_at: now, fields: new };
        let mut changed = self.changed(State::Pending, now);
        changed.0.responses.push(response);
        Ok(changed)
    }

    /// The errors of a response to this proposal.
    pub(crate) fn check_response(&self, response: &NewResponse, errors: &mut FieldErrors) {
        if let Some(selected) = response.selected {
            errors.take(self.own("selected_slot_id", selected));
        }
        response.check(errors);
    }

    /// The proposal after `slot` became `event`, without events of participants. [`Proposal`] has an example.
    ///
    /// # Errors
    /// In this order: [`ProposalError::NotPending`], [`ProposalError::Invalid`] for a slot of another proposal,
    /// [`ProposalError::NoSlotLeft`] for a slot that does not start after `now`, [`ProposalError::NoResponses`],
    /// [`ProposalError::AllDeclined`], and [`ProposalError::TooFewAccepts`].
    pub fn confirmed(&self, slot: SlotId, event: EventId, now: Timestamp) -> Result<Self, ProposalError> {
        self.confirmed_for(slot, event, Vec::new(), now)
    }

    /// The proposal after `slot` became `event`, the organizer's, and `participant_events`, those of the [`Place`]s that
    /// the caller could use. [`Proposal::places`] has an example.
    ///
    /// [`Place`]: crate::Place
    ///
    /// # Errors
    /// As [`Self::confirmed`], and [`ProposalError::Invalid`] for an event of an agent that gets none, or that has one
    /// before it in the order of the participants.
    pub fn confirmed_for(
        &self,
        slot: SlotId,
        event: EventId,
        participant_events: Vec<CreatedEvent>,
        now: Timestamp,
    ) -> Result<Self, ProposalError> {
        self.pending(now)?;
        if self.own("slot_id", slot).map_err(FieldErrors::from)?.span.start() <= now {
            return Err(ProposalError::NoSlotLeft);
        }
        self.answered()?;
        if self.all_declined() {
            return Err(ProposalError::AllDeclined);
        }
        if !self.has_enough_accepts(slot) {
            return Err(ProposalError::TooFewAccepts(self.0.min_accepts));
        }
        self.check_events(&participant_events).map_err(|agent| {
            let message = format!("must be of participants that get one, in their order; got one of {agent}");
            FieldErrors::from(FieldError::new("participant_events", message))
        })?;
        let mut confirmed = self.changed(State::Confirmed { slot, event }, now);
        confirmed.0.participant_events = participant_events;
        Ok(confirmed)
    }

    /// The cancelled proposal. The organizer may cancel it at any time while it is pending.
    ///
    /// # Errors
    /// [`ProposalError::NotPending`]. With [`CancelReason::AllDeclined`] also [`ProposalError::NoResponses`] and
    /// [`ProposalError::NotAllDeclined`].
    ///
    /// ```
    #[doc = include_str!("offered.txt")]
    /// use kalends_proposals::{CancelReason, NewResponse, ProposalError};
    ///
    /// assert!(proposal.cancelled(CancelReason::OrganizerCancelled, now).is_ok());
    /// assert_eq!(proposal.cancelled(CancelReason::AllDeclined, now), Err(ProposalError::NoResponses));
    /// let declined = proposal.respond(ben, NewResponse::decline(), now, &entropy)?;
    /// assert!(declined.cancelled(CancelReason::AllDeclined, now).is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cancelled(&self, reason: CancelReason, now: Timestamp) -> Result<Self, ProposalError> {
        self.pending(now)?;
        if reason == CancelReason::AllDeclined {
            self.answered()?;
            if !self.all_declined() {
                return Err(ProposalError::NotAllDeclined);
            }
        }
        Ok(self.changed(State::Cancelled(reason), now))
    }

    /// The expired proposal.
    ///
    /// # Errors
    /// [`ProposalError::NotPending`] if it has ended before, and [`ProposalError::NotExpired`] if its expiry has not
    /// passed at `now`.
    ///
    /// ```
    #[doc = include_str!("offered.txt")]
    /// use kalends_proposals::{ProposalError, State, Status};
    ///
    /// let at = proposal.expires_at();
    /// assert_eq!(proposal.expired(now), Err(ProposalError::NotExpired(at)));
    /// let expired = proposal.expired(at)?;
    /// assert_eq!(expired.state(), State::Expired);
    /// assert_eq!(expired.expired(at), Err(ProposalError::NotPending(Status::Expired)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn expired(&self, now: Timestamp) -> Result<Self, ProposalError> {
        if self.0.state != State::Pending {
            return Err(ProposalError::NotPending(self.0.state.status()));
        }
        if now < self.0.expires_at {
            return Err(ProposalError::NotExpired(self.0.expires_at));
        }
        Ok(self.changed(State::Expired, now))
    }

    /// Refuses a proposal to which nobody has responded.
    pub(crate) const fn answered(&self) -> Result<(), ProposalError> {
        if self.0.responses.is_empty() { Err(ProposalError::NoResponses) } else { Ok(()) }
    }

    /// Whether nobody responded with anything but a decline.
    pub(crate) fn all_declined(&self) -> bool {
        self.0.responses.iter().all(|response| response.kind() == ResponseKind::Decline)
    }

    /// Refuses a proposal that has ended.
    pub(crate) fn pending(&self, now: Timestamp) -> Result<(), ProposalError> {
        match self.state_at(now) {
            State::Pending => Ok(()),
            ended => Err(ProposalError::NotPending(ended.status())),
        }
    }

    fn changed(&self, state: State, now: Timestamp) -> Self {
        // A version that was counted up cannot reach the end. A stored one may be any number.
        let version = Version(self.0.version.0.saturating_add(1));
        Self(StoredProposal { state, version, updated_at: now, ..self.0.clone() })
    }
}
