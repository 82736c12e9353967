//! Resolving a proposal: the best slot that is free becomes an event, or one for everyone who takes part.

use std::collections::BTreeMap;

use kalends_calendars::{
    Attendees, Calendar, Change as Scheduled, Conflicts, EndedHold, Event, EventStatus, Moment, NewEvent, Taken, place,
    ports::CalendarFilter,
};
use kalends_kernel::{AgentId, CalendarId, EventId, FieldError, Metadata, OrgId, Page, StoreError};
use kalends_notifications::EventType;
use kalends_plans::Metric;
use kalends_proposals::{CancelReason, CreatedEvent, Proposal, Slot, Verdict};
use kalends_time::Timestamp;
use kalends_wire::{self as wire, PROPOSAL_ID};
use serde_json::Value;

use crate::{
    Actor, App, ChangeSet, Guard, Missing, Obstacles, Refusal,
    attempt::Attempt,
    commits::limit,
    conflicts::{CalendarBusy, obstacles},
};

/// The outcome of resolving a proposal.
pub(crate) enum Resolved {
    /// A slot became an event.
    Confirmed(Slot),
    /// Every participant declined.
    AllDeclined,
}

/// A calendar for an event of a proposal.
struct Room {
    calendar: Calendar,
    /// The participant whose event it is; `None` for the organizer.
    participant: Option<AgentId>,
    status: EventStatus,
    /// What must still be true at the commit, if the time must be free.
    guard: Option<Guard>,
    /// Holds at that time that have expired.
    over: Vec<EndedHold>,
}

impl App {
    /// Resolves a pending proposal, and adds the resulting writes to `changes`.
    ///
    /// # Errors
    /// [`Refusal::Proposal`] as [`Proposal::verdict`] says. [`Refusal::SlotTaken`] and [`Refusal::NotFound`] for a
    /// calendar, with nothing added to `changes`, if no slot is free.
    pub(crate) async fn resolve(
        &self,
        actor: &Actor,
        seen: &Proposal,
        now: Timestamp,
        changes: &mut ChangeSet,
    ) -> Result<(Proposal, Resolved), Attempt> {
        let ranking = match seen.verdict(now)? {
            Verdict::Ranked(ranking) => ranking,
            Verdict::AllDeclined => {
                let proposal = self.add_cancellation(seen, CancelReason::AllDeclined, now, changes).await?;
                return Ok((proposal, Resolved::AllDeclined));
            }
        };
        let only = self.only_calendars(seen).await?;
        let mut obstacle = None;
        for slot in ranking.slots() {
            let rooms = match self.rooms_for(actor, seen, slot, &only, now).await? {
                Ok(rooms) => rooms,
                Err(taken) => {
                    obstacle = obstacle.or(taken);
                    continue;
                }
            };
            return Ok((self.place_events(actor, seen, slot, rooms, now, changes).await?, Resolved::Confirmed(*slot)));
        }
        // If nothing blocks, the calendars are gone.
        let gone = || Refusal::missing(Missing::Calendar, &seen.calendar_of(ranking.best()).to_string());
        Err(obstacle.map_or_else(gone, Refusal::SlotTaken).into())
    }

    /// The oldest calendars of an agent, at most two: enough to know whether it has exactly one.
    pub(crate) async fn first_calendars(&self, org: OrgId, agent: AgentId) -> Result<Vec<CalendarId>, StoreError> {
        let two = Page { limit: 2, offset: 0 };
        let found = self.parts.store.list_calendars(org, CalendarFilter::OfAgent(agent), two).await?;
        Ok(found.data.into_iter().map(|calendar| calendar.id).collect())
    }

    /// The calendars of participants that get an event, named no calendar, and have exactly one.
    async fn only_calendars(&self, proposal: &Proposal) -> Result<BTreeMap<AgentId, CalendarId>, StoreError> {
        let named = |agent| {
            let mut responses = proposal.responses().iter();
            responses.any(|response| response.agent() == agent && response.calendar().is_some())
        };
        let mut only = BTreeMap::new();
        for agent in proposal.invited().filter(|agent| !named(*agent)) {
            if let [calendar] = self.first_calendars(proposal.org(), agent).await?[..] {
                only.insert(agent, calendar);
            }
        }
        Ok(only)
    }

    /// The calendars for the events of a slot, or what blocks the slot; `None` if the organizer's calendar is gone. A
    /// participant whose calendar is gone gets no event.
    ///
    /// Events may overlap, so conflicts matter only with `skip_taken`, and on a calendar that refuses them.
    async fn rooms_for(
        &self,
        actor: &Actor,
        proposal: &Proposal,
        slot: &Slot,
        only: &BTreeMap<AgentId, CalendarId>,
        now: Timestamp,
    ) -> Result<Result<Vec<Room>, Option<Box<Obstacles>>>, Attempt> {
        let org = actor.org();
        let Some(organizers) = self.parts.store.find_calendar(org, proposal.calendar_of(slot)).await? else {
            return Ok(Err(None));
        };
        let room =
            |calendar, participant, status| Room { calendar, participant, status, guard: None, over: Vec::new() };
        let mut rooms = vec![room(organizers, None, EventStatus::Confirmed)];
        for place in proposal.places(slot, |agent| only.get(&agent).copied()) {
            let status = if place.accepted { EventStatus::Confirmed } else { EventStatus::Tentative };
            let found = self.parts.store.find_calendar(org, place.calendar).await?;
            rooms.extend(found.map(|calendar| room(calendar, Some(place.agent), status)));
        }
        // The key of an agent learns neither what is on the calendars of others nor when they are free.
        let shown = |calendar: &Calendar| actor.narrowed_to().is_none_or(|own| calendar.agent == Some(own));
        let (mut taken, mut conflicts, mut sources) = (false, Vec::new(), Vec::new());
        let owners = actor.owners(Some(proposal.id()));
        for room in &mut rooms {
            if !proposal.skip_taken() && room.calendar.conflicts == Conflicts::Allow {
                continue;
            }
            let id = room.calendar.id;
            let CalendarBusy { source, blocks, holds } = self.calendar_busy(org, id, slot.span(), &owners).await?;
            match place(slot.span(), 0, &blocks, &holds, now) {
                Ok(over) => {
                    room.guard = Some(Guard::CalendarTime { calendar: id, seen: source.revision, window: slot.span() });
                    room.over = over;
                }
                Err(Taken(blocks)) => {
                    taken = true;
                    if shown(&room.calendar) {
                        conflicts.extend(blocks.into_iter().map(|block| (id, block)));
                    }
                }
            }
            sources.push(source);
        }
        if !rooms.iter().all(|room| shown(&room.calendar)) {
            sources.clear();
        }
        Ok(if taken { Err(Some(obstacles(slot.span(), conflicts, sources))) } else { Ok(rooms) })
    }

    /// Confirms a slot: creates its events and ends the reservations.
    async fn place_events(
        &self,
        actor: &Actor,
        seen: &Proposal,
        slot: &Slot,
        rooms: Vec<Room>,
        now: Timestamp,
        changes: &mut ChangeSet,
    ) -> Result<Proposal, Attempt> {
        let org = actor.org();
        let mut organizers = None;
        let mut others = Vec::new();
        let mut events = Vec::with_capacity(rooms.len());
        for Room { calendar, participant, status, guard, over } in rooms {
            changes.guards.extend(guard);
            over.into_iter().for_each(|over| self.end_hold(over, now, changes));
            let new = event_of(seen, slot, status);
            let event = Event::create(EventId::new(now, self.entropy()), &calendar, new, now)?;
            match participant {
                Some(agent) => others.push(CreatedEvent { agent, event: event.id }),
                None => organizers = Some(event.id),
            }
            events.push(event);
        }
        // The first room is the organizer's.
        let organizers = organizers.ok_or(Attempt::Stale)?;
        let proposal = seen.confirmed_for(slot.id(), organizers, others, now)?;
        changes.calendars.extend(events.iter().cloned().map(Scheduled::CreateEvent));
        changes.calendars.extend(self.unreserve(seen).await?);
        limit(actor, changes, Metric::Events, events.len() as u64, now);
        for event in events {
            let version = event.version;
            changes.messages.push(self.message(org, EventType::EventCreated, &wire::Event::from(event), version, now));
        }
        let confirmed = wire::ProposalConfirmed::of(&proposal, slot);
        changes.messages.push(self.message(org, EventType::ProposalConfirmed, &confirmed, proposal.version(), now));
        Ok(proposal)
    }
}

/// The event that a slot becomes.
fn event_of(proposal: &Proposal, slot: &Slot, status: EventStatus) -> NewEvent {
    NewEvent {
        title: proposal.title().to_owned(),
        description: proposal.description().map(str::to_owned),
        location: None,
        conference_url: None,
        attendees: Attendees::default(),
        start: Moment::At(slot.span().start()),
        end: Moment::At(slot.span().end()),
        all_day: false,
        status,
        metadata: metadata_of(proposal),
        reminders: None,
        recurrence: None,
        hold: None,
        if_free: false,
        if_as_of: None,
        send_invitations: false,
    }
}

/// The proposal's metadata with its identifier, or only the identifier if both together exceed the limit for events.
fn metadata_of(proposal: &Proposal) -> Metadata {
    let with = |mut map: serde_json::Map<String, Value>| {
        map.insert(PROPOSAL_ID.to_owned(), Value::String(proposal.id().to_string()));
        Metadata::parse("metadata", Value::Object(map))
    };
    with(proposal.metadata().as_map().clone()).or_else(|_: FieldError| with(serde_json::Map::new())).unwrap_or_default()
}
