//! Proposals: an agent offers slots, and agents respond until one is confirmed.

use std::collections::BTreeSet;

use kalends_calendars::{Change as Scheduled, Reservation, Taken, place};
use kalends_kernel::{AgentId, CalendarId, FieldError, Listed, Page, ProposalId};
use kalends_notifications::EventType;
use kalends_plans::{Feature, Metric};
use kalends_proposals::{
    CancelReason, Change, NewProposal, NewSlot, Proposal, ProposalError, Response, ResponseKind, ports::ProposalFilter,
};
use kalends_time::Timestamp;
use kalends_wire::{self as wire, WantedProposal, WantedProposals, WantedResponse};

use crate::{
    Actor, Answered, App, ChangeSet, Guard, Missing, Refusal,
    attempt::{Attempt, retry_stale},
    commits::limit,
    conflicts::{CalendarBusy, obstacles},
    placements::Resolved,
    proposal_views::Foreseen,
};

impl App {
    /// Creates a proposal.
    ///
    /// # Errors
    /// [`Refusal::PlanRequired`] on free plans; [`Refusal::NotFound`] for agents and calendars outside the
    /// organization; [`Refusal::OutOfReach`]; [`Refusal::Invalid`]; [`Refusal::SlotTaken`] if a time to be reserved
    /// is taken; [`Refusal::LimitReached`].
    pub async fn create_proposal(
        &self,
        actor: &Actor,
        wanted: WantedProposal,
    ) -> Result<Answered<wire::Proposal>, Refusal> {
        actor.needs(Feature::Scheduling)?;
        let calendars = wanted.slots.iter().filter_map(|slot| slot.calendar.as_ref()).chain([&wanted.calendar]);
        let turn = self.holding.lock(calendars.filter_map(|id| id.parse::<CalendarId>().ok())).await;
        let created = retry_stale(|| async {
            let new = self.offered(actor, wanted.clone()).await?;
            let now = self.now();
            let proposal = Proposal::create(actor.org(), new, now, self.entropy())?;
            actor.for_proposal(&proposal)?;
            let mut changes = ChangeSet::new(actor.org());
            self.reserve(actor, &proposal, now, &mut changes).await?;
            limit(actor, &mut changes, Metric::Proposals, 1, now);
            let (id, organizer, version) = (proposal.id().to_string(), proposal.organizer(), proposal.version());
            let resource = wire::Proposal::of(&proposal, now);
            changes.messages.push(self.message(actor.org(), EventType::ProposalCreated, &resource, version, now));
            changes.proposals.push(Change::Create(Box::new(proposal)));
            let answer = Answered::shows(&actor.request, resource, None);
            self.commit_for(actor, Some(organizer), id, changes, answer).await
        })
        .await;
        drop(turn);
        self.with_nearest_free(actor, created).await
    }

    /// Looks up the agents and calendars that the request names.
    async fn offered(&self, actor: &Actor, wanted: WantedProposal) -> Result<NewProposal, Refusal> {
        let organizer = self.living_agent(actor, &wanted.organizer).await?;
        let calendar = self.calendar_of_organizer(actor, &wanted.calendar).await?;
        let mut participants = Vec::with_capacity(wanted.participants.len());
        for agent in &wanted.participants {
            participants.push(self.living_agent(actor, agent).await?);
        }
        let mut slots = Vec::with_capacity(wanted.slots.len());
        for slot in wanted.slots {
            let calendar = match &slot.calendar {
                Some(id) => Some(self.calendar_of_organizer(actor, id).await?),
                None => None,
            };
            slots.push(NewSlot::new(slot.span).with_weight(slot.weight).with_calendar(calendar));
        }
        Ok(NewProposal::new(wanted.title, organizer, participants, calendar, slots)
            .with_description(wanted.description)
            .with_expiry(wanted.expires_at)
            .with_held_slots(wanted.hold_slots)
            .with_taken_skipped(wanted.skip_taken)
            .with_min_accepts(wanted.min_accepts)
            .with_placement(wanted.placement)
            .with_metadata(wanted.metadata))
    }

    /// An agent of the organization that is not decommissioned.
    async fn living_agent(&self, actor: &Actor, id: &str) -> Result<AgentId, Refusal> {
        let missing = || Refusal::missing(Missing::Agent, id);
        let agent = Self::agent_id(id)?;
        let found = self.parts.store.find_agent(actor.org(), agent).await?.ok_or_else(missing)?;
        Ok(found.living()?.id)
    }

    /// A calendar on which the event may be created. An agent's key may only use calendars of its own agent.
    async fn calendar_of_organizer(&self, actor: &Actor, id: &str) -> Result<CalendarId, Refusal> {
        let missing = || Refusal::missing(Missing::Calendar, id);
        let calendar: CalendarId = id.parse().map_err(|_| missing())?;
        let found = self.parts.store.find_calendar(actor.org(), calendar).await?.ok_or_else(missing)?;
        match actor.narrowed_to() {
            Some(own) if found.agent != Some(own) => Err(Refusal::OutOfReach),
            _ => Ok(calendar),
        }
    }

    /// Reserves the times of a proposal if it asks for that, like a hold of the lowest priority.
    async fn reserve(
        &self,
        actor: &Actor,
        proposal: &Proposal,
        now: Timestamp,
        changes: &mut ChangeSet,
    ) -> Result<(), Attempt> {
        let (org, owner, expires_at) = (proposal.org(), proposal.id().into(), proposal.expires_at());
        let (mut ended, owners) = (BTreeSet::new(), actor.owners(None));
        for (calendar, spans) in proposal.reserves() {
            for span in spans.iter().copied() {
                let CalendarBusy { source, blocks, holds } = self.calendar_busy(org, calendar, span, &owners).await?;
                changes.guards.push(Guard::CalendarTime { calendar, seen: source.revision, window: span });
                match place(span, 0, &blocks, &holds, now) {
                    // These holds have expired. One hold may overlap several slots.
                    Ok(over) => over
                        .into_iter()
                        .filter(|over| ended.insert(over.seen.id))
                        .for_each(|over| self.end_hold(over, now, changes)),
                    Err(Taken(blocks)) => {
                        let conflicts = blocks.into_iter().map(|block| (calendar, block)).collect();
                        return Err(Refusal::SlotTaken(obstacles(span, conflicts, vec![source])).into());
                    }
                }
            }
            let reservations = spans.into_iter().map(|span| Reservation { owner, span, expires_at }).collect();
            changes.calendars.push(Scheduled::Reserve { org, calendar, reservations });
        }
        Ok(())
    }

    /// The writes that end the reservations of a proposal. Reservations on a calendar that is no longer visible need
    /// not be ended.
    pub(crate) async fn unreserve(&self, proposal: &Proposal) -> Result<Vec<Scheduled>, Refusal> {
        let (org, owner) = (proposal.org(), proposal.id().into());
        let mut ended = Vec::new();
        for calendar in proposal.reserves().into_keys() {
            if self.parts.store.source_of_calendar(org, calendar).await?.is_some() {
                ended.push(Scheduled::Unreserve { org, calendar, owner });
            }
        }
        Ok(ended)
    }

    /// One proposal with its slots and responses.
    ///
    /// # Errors
    /// [`Refusal::PlanRequired`], [`Refusal::NotFound`], [`Refusal::OutOfReach`].
    pub async fn proposal(&self, actor: &Actor, id: &str) -> Result<wire::Proposal, Refusal> {
        Ok(wire::Proposal::of(&self.whole_proposal(actor, id).await?, self.now()))
    }

    pub(crate) async fn found_proposal(&self, actor: &Actor, id: &str) -> Result<Proposal, Refusal> {
        actor.needs(Feature::Scheduling)?;
        let missing = || Refusal::missing(Missing::Proposal, id);
        let proposal: ProposalId = id.parse().map_err(|_| missing())?;
        self.parts.store.find_proposal(actor.org(), proposal).await?.ok_or_else(missing)
    }

    /// Proposals, the oldest first. An agent's key sees those that its agent organizes or participates in.
    ///
    /// # Errors
    /// [`Refusal::PlanRequired`]; [`Refusal::NotFound`] if the organizer is not an agent of the organization.
    pub async fn list_proposals(
        &self,
        actor: &Actor,
        (wanted, page): (WantedProposals, Page),
    ) -> Result<Listed<wire::ProposalSummary>, Refusal> {
        actor.needs(Feature::Scheduling)?;
        let now = self.now();
        let organizer = match &wanted.organizer {
            Some(id) => {
                let missing = || Refusal::missing(Missing::Agent, id);
                Some(self.parts.store.find_agent(actor.org(), Self::agent_id(id)?).await?.ok_or_else(missing)?.id)
            }
            None => None,
        };
        let status = wanted.status.map(|status| kalends_proposals::ports::StatusAt { status, now });
        let filter = ProposalFilter { status, organizer, party: actor.narrowed_to() };
        let found = self.parts.store.list_proposals(actor.org(), filter, page).await?;
        Ok(found.map(|proposal| wire::ProposalSummary::of(&proposal, now)))
    }

    /// Records the response of a participant. The last response resolves the proposal.
    ///
    /// If no slot can be confirmed, the response is recorded and the proposal stays pending, because refusing would
    /// lose the response. A notice says why. If the organization has used up its events, the response is refused,
    /// because the same response succeeds later.
    ///
    /// # Errors
    /// [`Refusal::PlanRequired`], [`Refusal::NotFound`], [`Refusal::OutOfReach`], [`Refusal::Proposal`],
    /// [`Refusal::Invalid`], [`Refusal::LimitReached`].
    pub async fn respond(
        &self,
        actor: &Actor,
        id: &str,
        wanted: WantedResponse,
    ) -> Result<Answered<wire::Proposal>, Refusal> {
        let turn = self.lock_calendars_of(actor, id, wanted.calendar.as_deref()).await?;
        let responded = retry_stale(|| async {
            let seen = self.found_proposal(actor, id).await?;
            // A text that is not an identifier is not a participant either.
            let agent: AgentId = wanted.agent.parse().map_err(|_| ProposalError::NotParticipant)?;
            actor.for_response(agent, &seen)?;
            let now = self.now();
            let response = wanted.response.clone();
            // Whether the participant may respond at all is checked first.
            let calendar = self.calendar_for(&seen, agent, &wanted).await;
            let response = response.with_calendar(calendar.as_ref().ok().copied().flatten());
            let mut proposal = seen.respond(agent, response, now, self.entropy())?;
            calendar?;
            let mut changes = ChangeSet::new(actor.org());
            if let Some(response) = proposal.responses().last() {
                let payload = wire::ProposalResponded::of(&proposal, response);
                let version = proposal.version();
                let message = self.message(actor.org(), EventType::ProposalResponded, &payload, version, now);
                changes.messages.push(message);
            }
            if proposal.is_answered() {
                match self.resolve(actor, &proposal, now, &mut changes).await {
                    Ok((resolved, _)) => proposal = resolved,
                    // No slot can be confirmed now. The response still counts, and the proposal stays pending.
                    Err(Attempt::Refused(
                        Refusal::SlotTaken(_)
                        | Refusal::Proposal(ProposalError::NoSlotLeft | ProposalError::TooFewAccepts(_))
                        | Refusal::NotFound { missing: Missing::Calendar, .. },
                    )) => {}
                    Err(other) => return Err(other),
                }
            }
            let resource = wire::Proposal::of(&proposal, now);
            self.commit_proposal(actor, Some(agent), (&seen, proposal), resource, changes).await
        })
        .await;
        drop(turn);
        responded
    }

    /// The calendar for the event of a participant that responds: the one that it names, which must be its own. If it
    /// names none but gets an event, its only calendar.
    async fn calendar_for(
        &self,
        proposal: &Proposal,
        agent: AgentId,
        wanted: &WantedResponse,
    ) -> Result<Option<CalendarId>, Refusal> {
        let invalid = |message: String| Refusal::Invalid(FieldError::new("calendar_id", message).into());
        if let Some(id) = &wanted.calendar {
            let missing = || Refusal::missing(Missing::Calendar, id);
            let calendar: CalendarId = id.parse().map_err(|_| missing())?;
            let found = self.parts.store.find_calendar(proposal.org(), calendar).await?.ok_or_else(missing)?;
            if found.agent != Some(agent) {
                return Err(invalid(format!("must be a calendar of {agent}, the agent that responds")));
            }
            return Ok(Some(calendar));
        }
        if wanted.response.kind() == ResponseKind::Decline || !proposal.invited().any(|invited| invited == agent) {
            return Ok(None);
        }
        let mut own = self.first_calendars(proposal.org(), agent).await?;
        let only = own.pop();
        if own.is_empty() {
            return Ok(only);
        }
        Err(invalid(format!("is required, because {agent} has several calendars and gets an event on one of them")))
    }

    /// Resolves a proposal with the responses so far.
    ///
    /// # Errors
    /// [`Refusal::PlanRequired`], [`Refusal::NotFound`], [`Refusal::OutOfReach`], [`Refusal::Proposal`];
    /// [`Refusal::SlotTaken`] if none of its slots is free; [`Refusal::LimitReached`].
    pub async fn resolve_proposal(&self, actor: &Actor, id: &str) -> Result<Answered<wire::Resolution>, Refusal> {
        self.resolve_if(actor, id, None).await
    }

    /// [`App::resolve_proposal`], if it still does what a page showed. A slot that is taken can be skipped nevertheless.
    ///
    /// # Errors
    /// [`Refusal::Stale`] if it would do something else, with no effect; otherwise as [`App::resolve_proposal`].
    pub async fn resolve_as_foreseen(
        &self,
        actor: &Actor,
        id: &str,
        foreseen: Foreseen,
    ) -> Result<Answered<wire::Resolution>, Refusal> {
        self.resolve_if(actor, id, Some(foreseen)).await
    }

    async fn resolve_if(
        &self,
        actor: &Actor,
        id: &str,
        foreseen: Option<Foreseen>,
    ) -> Result<Answered<wire::Resolution>, Refusal> {
        let turn = self.lock_calendars_of(actor, id, None).await?;
        let resolved = retry_stale(|| async {
            let seen = self.found_proposal(actor, id).await?;
            actor.for_proposal(&seen)?;
            let now = self.now();
            // The same state is resolved below, and the commit fails if it has changed by then.
            foreseen.map_or(Ok(()), |foreseen| foreseen.check(&seen, now))?;
            let mut changes = ChangeSet::new(actor.org());
            let (proposal, resolved) = match self.resolve(actor, &seen, now, &mut changes).await {
                Ok(done) => done,
                Err(refused) => {
                    // The events that block may be its own: another request has just confirmed it.
                    let stored = self.found_proposal(actor, id).await?;
                    return Err(if stored.version() == seen.version() { refused } else { Attempt::Stale });
                }
            };
            let resource = match resolved {
                Resolved::Confirmed(slot) => wire::Resolution::confirmed(&proposal, &slot),
                Resolved::AllDeclined => wire::Resolution::all_declined(),
            };
            self.commit_proposal(actor, Some(seen.organizer()), (&seen, proposal), resource, changes).await
        })
        .await;
        drop(turn);
        self.with_nearest_free(actor, resolved).await
    }

    /// Cancels a proposal.
    ///
    /// # Errors
    /// [`Refusal::PlanRequired`], [`Refusal::NotFound`], [`Refusal::OutOfReach`], [`Refusal::Proposal`].
    pub async fn cancel_proposal(&self, actor: &Actor, id: &str) -> Result<Answered<wire::Resolution>, Refusal> {
        retry_stale(|| async {
            let seen = self.found_proposal(actor, id).await?;
            actor.for_proposal(&seen)?;
            let now = self.now();
            let mut changes = ChangeSet::new(actor.org());
            let proposal = self.add_cancellation(&seen, CancelReason::OrganizerCancelled, now, &mut changes).await?;
            let resource = wire::Resolution::cancelled();
            self.commit_proposal(actor, Some(seen.organizer()), (&seen, proposal), resource, changes).await
        })
        .await
    }

    /// Locks the calendars that the proposal is known to use, and the one that a response names, so that requests of this
    /// process that want the same time take turns.
    async fn lock_calendars_of(
        &self,
        actor: &Actor,
        id: &str,
        named: Option<&str>,
    ) -> Result<Vec<tokio::sync::MutexGuard<'_, ()>>, Refusal> {
        let proposal = self.found_proposal(actor, id).await?;
        let offered = proposal.slots().iter().map(|slot| proposal.calendar_of(slot));
        let responded = proposal.responses().iter().filter_map(Response::calendar);
        let named = named.and_then(|id| id.parse().ok());
        let calendars: BTreeSet<CalendarId> = offered.chain(responded).chain(named).collect();
        Ok(self.holding.lock(calendars).await)
    }

    /// Writes the new state of the proposal `seen`, and commits.
    async fn commit_proposal<T: serde::Serialize + Send>(
        &self,
        actor: &Actor,
        agent: Option<AgentId>,
        (seen, proposal): (&Proposal, Proposal),
        resource: T,
        mut changes: ChangeSet,
    ) -> Result<Answered<T>, Attempt> {
        let answer = Answered::shows(&actor.request, resource, None);
        let id = proposal.id().to_string();
        changes.proposals.push(Change::update(seen, proposal).map_err(|_| Attempt::Stale)?);
        self.commit_for(actor, agent, id, changes, answer).await
    }

    /// Cancels the proposal, and adds the resulting writes to `changes`.
    pub(crate) async fn add_cancellation(
        &self,
        seen: &Proposal,
        reason: CancelReason,
        now: Timestamp,
        changes: &mut ChangeSet,
    ) -> Result<Proposal, Attempt> {
        let proposal = seen.cancelled(reason, now)?;
        changes.calendars.extend(self.unreserve(seen).await?);
        let cancelled = wire::ProposalCancelled::of(&proposal, reason);
        let message = self.message(seen.org(), EventType::ProposalCancelled, &cancelled, proposal.version(), now);
        changes.messages.push(message);
        Ok(proposal)
    }
}

impl From<ProposalError> for Refusal {
    fn from(error: ProposalError) -> Self {
        match error {
            ProposalError::Invalid(errors) => Self::Invalid(errors),
            other => Self::Proposal(other),
        }
    }
}
