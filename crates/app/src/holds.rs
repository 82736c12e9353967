//! Holds: placing, confirming and releasing them, one by one and in sets, and ending them when they expire.

use std::collections::BTreeSet;

use kalends_accounts::Scope;
use kalends_availability::BusySet;
use kalends_calendars::{
    AsOf, Attendees, Block, BlockKind, Calendar, Change, EndedHold, Event, EventError, EventStatus, ExternalSync, Hold,
    HoldScope, HoldSet, HoldSetError, Moment, NewEvent, NewHold, PLACED_HOLDS_MAX, Publication, Taken, confirm_all,
    place,
    ports::{HoldSetFilter, LiveHold, OwnedEvent, StatusAt},
    release_all,
};
use kalends_kernel::{AgentId, CalendarId, EventId, FieldError, HoldSetId, Listed, Metadata, Page, StoreError};
use kalends_notifications::EventType;
use kalends_plans::{Feature, Metric};
use kalends_time::{Span, Timestamp};
use kalends_wire::NewHoldSet;

use crate::{
    Actor, Answered, App, ChangeSet, EventPath, Guard, Missing, Refusal,
    as_of::{NOT_FOR_OTHERS, Place, check_covers},
    attempt::{Attempt, retry_stale},
    changed_event::ChangedEvent,
    commits::limit,
    conflicts::{CalendarBusy, obstacles},
    external_sync::Publications,
    local::LocalZones,
};

/// How a hold ends.
type Decide = fn(&Event, Timestamp) -> Result<Event, EventError>;

/// How the holds of a set end.
type DecideSet = fn(&[Event], Timestamp) -> Result<Vec<Event>, HoldSetError>;

/// What one or several holds need.
struct Wanted<'a> {
    /// The calendars are those that it must fit on.
    place: Place<'a>,
    priority: u8,
    /// The state that the caller decided on.
    if_as_of: Option<&'a AsOf>,
}

impl App {
    /// Places a hold.
    ///
    /// # Errors
    /// [`Refusal::PlanRequired`]; [`Refusal::NotFound`] if no such calendar exists; [`Refusal::Invalid`];
    /// [`Refusal::SlotTaken`]; [`Refusal::LimitReached`].
    pub(crate) async fn create_hold(
        &self,
        actor: &Actor,
        calendar: &str,
        new: NewEvent,
        wanted: &NewHold,
    ) -> Result<Answered<kalends_wire::Event>, Refusal> {
        actor.needs(Feature::Holds)?;
        let new = NewEvent { hold: new.hold.map(|hold| NewHold { longest: actor.longest_hold(), ..hold }), ..new };
        let id = self.calendar(actor, calendar).await?.id;
        let turn = self.holding.lock([id]).await;
        let placed = retry_stale(|| async {
            let calendar = self.calendar(actor, calendar).await?;
            let now = self.now();
            let mut changes = ChangeSet::new(actor.org());
            let event = self.scheduled(actor, &calendar, new.clone(), &mut changes)?;
            self.know_agents(actor, &Attendees::default(), &event.attendees).await?;
            let agent = calendar.agent;
            self.fit(actor, (&event, agent), (wanted.hold, new.if_as_of.as_ref()), None, now, &mut changes).await?;
            limit(actor, &mut changes, Metric::Events, 1, now);
            let (resource, about, zone) = (event.id.to_string(), EventType::EventHoldCreated, Some(calendar.zone));
            let publication = Some((&calendar).into());
            let changed = ChangedEvent { event, about, resource, agent, zone, publication };
            self.commit_event(actor, changed, now, changes).await
        })
        .await;
        drop(turn);
        self.with_nearest_free(actor, placed).await
    }

    /// Makes room for the hold on the calendars that it must fit on: its own, or all of the agent's. `moved` is the
    /// hold as it was before, if it moves.
    pub(crate) async fn fit(
        &self,
        actor: &Actor,
        (event, agent): (&Event, Option<AgentId>),
        (hold, if_as_of): (Hold, Option<&AsOf>),
        moved: Option<&Event>,
        now: Timestamp,
        changes: &mut ChangeSet,
    ) -> Result<(), Attempt> {
        let calendars = match (hold.scope, agent) {
            (HoldScope::Agent, Some(agent)) => {
                let sources = self.parts.store.sources_of_agents(actor.org(), &[agent]).await?;
                let count = u64::try_from(sources.len()).unwrap_or(u64::MAX);
                changes.guards.push(Guard::CalendarsOfAgent { agent, count });
                sources.iter().map(|source| source.calendar).collect()
            }
            (HoldScope::Agent, None) => {
                let message = "must be calendar, or left out: no agent owns this calendar";
                return Err(FieldError::new("scope", message).into());
            }
            (HoldScope::Calendar, _) => vec![event.calendar],
        };
        if let Some(as_of) = if_as_of {
            check_covers(as_of, &[event.calendar])?;
        }
        let place = Place { span: event.times.span, calendars: &calendars, moved };
        let wanted = Wanted { place, priority: hold.priority, if_as_of };
        self.make_room(actor, wanted, now, changes).await
    }

    /// Adds the writes that make room for holds to `changes`, with guards against anything else being scheduled there
    /// before the commit.
    async fn make_room(
        &self,
        actor: &Actor,
        Wanted { place: Place { span, calendars, moved }, priority, if_as_of }: Wanted<'_>,
        now: Timestamp,
        changes: &mut ChangeSet,
    ) -> Result<(), Attempt> {
        let org = actor.org();
        if let Some(as_of) = if_as_of {
            self.unchanged_since(actor, as_of, Place { span, calendars, moved }, now, changes).await?;
        }
        let (mut conflicts, mut any_hidden) = (Vec::new(), false);
        let mut sources = Vec::with_capacity(calendars.len());
        let owners = actor.owners(None);
        for calendar in calendars.iter().copied() {
            let CalendarBusy { source, blocks, mut holds } = self.calendar_busy(org, calendar, span, &owners).await?;
            changes.guards.push(Guard::CalendarTime { calendar, seen: source.revision, window: span });
            sources.push(source);
            let shown = actor.sees_all_of(source.agent);
            any_hidden |= !shown;
            holds.retain(|hold| moved.is_none_or(|moved| hold.id != moved.id));
            match place(span, priority, &blocks, &holds, now) {
                Ok(ended) => ended.into_iter().for_each(|ended| self.end_hold(ended, now, changes)),
                Err(Taken(blocks)) => {
                    let blocks = if shown { blocks } else { busy_only(&blocks, span) };
                    conflicts.extend(blocks.into_iter().map(|block| (calendar, block)));
                }
            }
        }
        if conflicts.is_empty() {
            return Ok(());
        }
        if let Some(moved) = moved {
            // If it was confirmed since it was read, it is now an event that blocks itself.
            let found = self.parts.store.find_event(org, moved.id).await?;
            if found.is_none_or(|found| found.event.version != moved.version) {
                return Err(Attempt::Stale);
            }
        }
        if any_hidden && !actor.may_see_free_times_of_others() {
            // Free times near it would show when others are busy at other times.
            sources.clear();
        }
        Err(Refusal::SlotTaken(obstacles(span, conflicts, sources)).into())
    }

    /// Adds to `changes` the end of a hold that expired or gave way to another one, with a webhook message.
    pub(crate) fn end_hold(&self, ended: EndedHold, now: Timestamp, changes: &mut ChangeSet) {
        let EndedHold { seen, event, end } = ended;
        changes.calendars.push(Change::UpdateEvent { event: event.clone(), seen: seen.version });
        let (org, version) = (event.org, event.version);
        let ended = kalends_wire::EndedHold { event: event.into(), reason: end.into() };
        changes.messages.push(self.message(org, EventType::EventHoldExpired, &ended, version, now));
    }

    /// The holds of the organization's calendars that have not expired, the first to expire first, at most `limit`.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for an agent's key.
    pub async fn live_holds(&self, actor: &Actor, limit: u32) -> Result<Vec<LiveHold>, Refusal> {
        actor.for_organization()?;
        Ok(self.parts.store.live_holds(actor.org(), self.now(), limit).await?)
    }

    /// Confirms a live hold. With `if_as_of`, only if nothing relevant has changed since that availability answer.
    ///
    /// # Errors
    /// [`Refusal::PlanRequired`], [`Refusal::NotFound`], [`Refusal::Hold`]; [`Refusal::Outdated`], and
    /// [`Refusal::Invalid`] if `if_as_of` does not cover the calendar.
    pub async fn confirm_hold(
        &self,
        actor: &Actor,
        id: &str,
        if_as_of: Option<&AsOf>,
    ) -> Result<Answered<kalends_wire::Event>, Refusal> {
        let confirmed = self.decide_hold(actor, id, (EventType::EventHoldConfirmed, Event::confirmed), if_as_of).await;
        self.with_nearest_free(actor, confirmed).await
    }

    /// Releases a live hold.
    ///
    /// # Errors
    /// [`Refusal::PlanRequired`], [`Refusal::NotFound`], [`Refusal::Hold`].
    pub async fn release_hold(&self, actor: &Actor, id: &str) -> Result<Answered<kalends_wire::Event>, Refusal> {
        self.decide_hold(actor, id, (EventType::EventHoldReleased, Event::released), None).await
    }

    async fn decide_hold(
        &self,
        actor: &Actor,
        id: &str,
        (about, decide): (EventType, Decide),
        if_as_of: Option<&AsOf>,
    ) -> Result<Answered<kalends_wire::Event>, Refusal> {
        actor.needs(Feature::Holds)?;
        let path = EventPath { calendar: None, id };
        let id: EventId = id.parse().map_err(|_| path.missing())?;
        // The request that ends the hold writes its row, even to take its time. So the row's version is the only
        // condition, unless the request sets one.
        retry_stale(|| async {
            let OwnedEvent { event: seen, agent, publication } = self.owned_event(actor, path, id).await?;
            let now = self.now();
            let event = decide(&seen, now)?;
            let mut changes = ChangeSet::new(actor.org());
            self.require_unchanged(actor, if_as_of, (&event, Some(&seen)), now, &mut changes).await?;
            changes.calendars.push(Change::UpdateEvent { event: event.clone(), seen: seen.version });
            let zone = actor.request.local.then_some(publication.zone);
            let (resource, publication) = (id.to_string(), Some(publication));
            let changed = ChangedEvent { event, about, resource, agent, zone, publication };
            self.commit_event(actor, changed, now, changes).await
        })
        .await
    }

    /// Places one hold on each of several calendars, or none.
    ///
    /// # Errors
    /// As for [`Self::create_event`] with a hold; [`Refusal::SlotTaken`] names every calendar that is taken;
    /// [`Refusal::PlacedHolds`] for an agent's key with too many holds on calendars of others.
    pub async fn create_hold_set(
        &self,
        actor: &Actor,
        mut new: NewHoldSet,
    ) -> Result<Answered<kalends_wire::HoldSet>, Refusal> {
        actor.needs(Feature::Holds)?;
        new.hold.longest = actor.longest_hold();
        let calendars = self.calendars_of_set(actor, &new).await?;
        let if_as_of = new.if_as_of.as_ref();
        let ids: Vec<CalendarId> = calendars.iter().map(|calendar| calendar.id).collect();
        let turn = self.holding.lock(ids.iter().copied()).await;
        let placed = retry_stale(|| async {
            let calendars = self.calendars_of_set(actor, &new).await?;
            let ids: Vec<CalendarId> = calendars.iter().map(|calendar| calendar.id).collect();
            let now = self.now();
            let set = HoldSetId::new(now, self.entropy());
            let mut changes = ChangeSet::new(actor.org());
            self.place_on_others(actor, &calendars, &new, set, now, &mut changes).await?;
            if let Some(as_of) = if_as_of {
                check_covers(as_of, &ids)?;
            }
            let mut events = Vec::with_capacity(calendars.len());
            for calendar in &calendars {
                let id = EventId::new(now, self.entropy());
                let event = Event::create(id, calendar, held(&new), now)?;
                events.push(Event { hold_set: Some(set), ..event });
            }
            let priority = new.hold.hold.priority;
            let place = Place { span: new.span, calendars: &ids, moved: None };
            let wanted = Wanted { place, priority, if_as_of };
            self.make_room(actor, wanted, now, &mut changes).await?;
            limit(actor, &mut changes, Metric::Events, events.len() as u64, now);
            changes.calendars.extend(events.iter().cloned().map(Change::CreateEvent));
            let agent = only(calendars.iter().map(|calendar| calendar.agent));
            let hidden = hidden(actor, calendars.iter().map(|calendar| (calendar.id, calendar.agent)));
            let about = |_: &Event| Some(EventType::EventHoldCreated);
            let publications = Publications::of(calendars.iter().map(|calendar| (calendar.id, calendar.into())));
            let seen = (set, &hidden, &publications);
            let answer = self.announce_set(actor, seen, events, about, now, &mut changes).await?;
            self.commit_for(actor, agent, set.to_string(), changes, answer).await
        })
        .await;
        drop(turn);
        self.with_nearest_free(actor, placed).await
    }

    /// A hold set: its holds and the events that they became. Deleted events do not count.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if none is left; [`Refusal::OutOfReach`] if the actor may not access one of them.
    pub async fn hold_set(&self, actor: &Actor, id: &str) -> Result<kalends_wire::HoldSet, Refusal> {
        let (id, found) = self.owned_hold_set(actor, id).await?;
        let hidden = hidden(actor, found.iter().map(|owned| (owned.event.calendar, owned.agent)));
        let set = HoldSet::of(id, found.into_iter().map(|owned| (owned.event, owned.publication)));
        let zones = self.local_zones(actor, &set.events).await?;
        Ok(self.shown_set(set, &zones, |calendar| hidden.contains(&calendar), self.now()).await?)
    }

    /// The hold sets that still have an event, by creation. An agent's key sees the sets whose events are all on
    /// calendars of its agent, and with the scope for it those that the agent's keys placed. An expired hold counts as
    /// cancelled.
    ///
    /// # Errors
    /// Only a failure of the service.
    pub async fn list_hold_sets(
        &self,
        actor: &Actor,
        status: Option<EventStatus>,
        page: Page,
    ) -> Result<Listed<kalends_wire::HoldSet>, Refusal> {
        let now = self.now();
        let widened = actor.widened_by(Scope::HoldsOrg);
        let status = status.map(|status| StatusAt { status, now });
        let filter = HoldSetFilter { agent: actor.narrowed_to(), or_placed: widened.is_some(), status };
        let found = self.parts.store.list_hold_sets(actor.org(), filter, page).await?;
        let own: BTreeSet<CalendarId> = match widened {
            Some(agent) => {
                let sources = self.parts.store.sources_of_agents(actor.org(), &[agent]).await?;
                sources.iter().map(|source| source.calendar).collect()
            }
            None => BTreeSet::new(),
        };
        let is_hidden = |calendar: CalendarId| widened.is_some() && !own.contains(&calendar);
        let mut data = Vec::with_capacity(found.data.len());
        for set in found.data {
            data.push(self.shown_set(set, &LocalZones::default(), is_hidden, now).await?);
        }
        Ok(Listed { data, total: found.total })
    }

    /// The events of a hold set. The actor must have access to all of them, or have placed them.
    async fn owned_hold_set(&self, actor: &Actor, id: &str) -> Result<(HoldSetId, Vec<OwnedEvent>), Refusal> {
        let missing = || Refusal::missing(Missing::HoldSet, id);
        let set: HoldSetId = id.parse().map_err(|_| missing())?;
        let found = self.parts.store.events_of_hold_set(actor.org(), set).await?;
        if found.is_empty() {
            return Err(missing());
        }
        if !found.iter().all(|owned| actor.sees_all_of(owned.agent)) {
            self.require_placed(actor, Some(set)).await?;
        }
        Ok((set, found))
    }

    /// Allows access to a hold set on calendars of others, if the actor's agent placed it. `None` is no hold set.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for everybody else.
    pub(crate) async fn require_placed(&self, actor: &Actor, set: Option<HoldSetId>) -> Result<(), Refusal> {
        let placer = match (actor.widened_by(Scope::HoldsOrg), set) {
            (Some(_), Some(set)) => self.parts.store.placer_of_hold_set(actor.org(), set).await?,
            _ => None,
        };
        actor.for_placed_by(placer)
    }

    /// Confirms all holds of a set, or none of them. With `if_as_of`, only if nothing relevant has changed since that
    /// availability answer.
    ///
    /// # Errors
    /// [`Refusal::PlanRequired`], [`Refusal::NotFound`], [`Refusal::HoldSet`] if one of them is not a live hold;
    /// [`Refusal::Outdated`], and [`Refusal::Invalid`] if `if_as_of` does not cover the calendars, or the actor does
    /// not see all of them.
    pub async fn confirm_hold_set(
        &self,
        actor: &Actor,
        id: &str,
        if_as_of: Option<&AsOf>,
    ) -> Result<Answered<kalends_wire::HoldSet>, Refusal> {
        let confirmed = self.decide_hold_set(actor, id, (EventType::EventHoldConfirmed, confirm_all), if_as_of).await;
        self.with_nearest_free(actor, confirmed).await
    }

    /// Releases the live holds of a set.
    ///
    /// # Errors
    /// [`Refusal::PlanRequired`], [`Refusal::NotFound`], [`Refusal::HoldSet`] if none of them is a live hold.
    pub async fn release_hold_set(&self, actor: &Actor, id: &str) -> Result<Answered<kalends_wire::HoldSet>, Refusal> {
        self.decide_hold_set(actor, id, (EventType::EventHoldReleased, release_all), None).await
    }

    async fn decide_hold_set(
        &self,
        actor: &Actor,
        id: &str,
        (event_type, decide): (EventType, DecideSet),
        if_as_of: Option<&AsOf>,
    ) -> Result<Answered<kalends_wire::HoldSet>, Refusal> {
        actor.needs(Feature::Holds)?;
        retry_stale(|| async {
            let (set, found) = self.owned_hold_set(actor, id).await?;
            let agent = only(found.iter().map(|owned| owned.agent));
            let hidden = hidden(actor, found.iter().map(|owned| (owned.event.calendar, owned.agent)));
            let publications = Publications::of(found.iter().map(|owned| (owned.event.calendar, owned.publication)));
            let seen: Vec<Event> = found.into_iter().map(|owned| owned.event).collect();
            let now = self.now();
            let events = decide(&seen, now)?;
            let mut changes = ChangeSet::new(actor.org());
            if let Some(as_of) = if_as_of {
                self.require_set_unchanged(actor, as_of, (seen.as_slice(), &hidden), now, &mut changes).await?;
            }
            let mut changed = BTreeSet::new();
            for (seen, event) in seen.iter().zip(&events) {
                if event.version != seen.version {
                    changed.insert(event.id);
                    changes.calendars.push(Change::UpdateEvent { event: event.clone(), seen: seen.version });
                }
            }
            let type_of = |event: &Event| changed.contains(&event.id).then_some(event_type);
            let shown = (set, &hidden, &publications);
            let answer = self.announce_set(actor, shown, events, type_of, now, &mut changes).await?;
            self.commit_for(actor, agent, set.to_string(), changes, answer).await
        })
        .await
    }

    /// Adds a webhook message for each event for which `type_of` returns a type, and returns all events. Those on
    /// `hidden` calendars are shown as the actor wrote them.
    async fn announce_set(
        &self,
        actor: &Actor,
        (set, hidden, publications): (HoldSetId, &BTreeSet<CalendarId>, &Publications),
        events: Vec<Event>,
        type_of: impl Fn(&Event) -> Option<EventType>,
        now: Timestamp,
        changes: &mut ChangeSet,
    ) -> Result<Answered<kalends_wire::HoldSet>, Refusal> {
        let zones = self.local_zones(actor, &events).await?;
        let mut holds = Vec::with_capacity(events.len());
        for event in events {
            let (event_type, version) = (type_of(&event), event.version);
            let is_hidden = hidden.contains(&event.calendar);
            let seen = is_hidden.then(|| event.clone().as_its_placer_sees());
            let publication = publications.get(event.calendar);
            let event = event.at(now);
            let sync = self.sync_seen(publication, &event, is_hidden).await?;
            let resource = kalends_wire::Event::from(event);
            let message = |event_type| self.message(actor.org(), event_type, &resource, version, now);
            changes.messages.extend(event_type.map(message));
            let resource = match seen {
                // The zone of the calendar is not shown either.
                Some(seen) => kalends_wire::Event::from(seen.at(now)),
                None => zones.with_local(resource),
            };
            holds.push(resource.with_external_sync(sync));
        }
        Ok(Answered::shows(&actor.request, kalends_wire::HoldSet { id: set, holds }, None))
    }

    /// The set as it is at `now`. Events on hidden calendars are shown as the agent of the key wrote them.
    async fn shown_set(
        &self,
        set: HoldSet,
        zones: &LocalZones,
        is_hidden: impl Fn(CalendarId) -> bool + Send,
        now: Timestamp,
    ) -> Result<kalends_wire::HoldSet, StoreError> {
        let mut holds = Vec::with_capacity(set.events.len());
        for event in set.events {
            let (hidden, publication) = (is_hidden(event.calendar), set.published.get(&event.calendar).copied());
            let event = event.at(now);
            let sync = self.sync_seen(publication, &event, hidden).await?;
            let event = if hidden { event.as_its_placer_sees().into() } else { zones.to_wire(event) };
            holds.push(event.with_external_sync(sync));
        }
        Ok(kalends_wire::HoldSet { id: set.id, holds })
    }

    /// [`Self::sync_of`]. On a hidden calendar nothing is known of copies: whether its events are published is not for
    /// others to know.
    async fn sync_seen(
        &self,
        publication: Option<Publication>,
        event: &Event,
        is_hidden: bool,
    ) -> Result<ExternalSync, StoreError> {
        if is_hidden { Ok(ExternalSync::NotConfigured) } else { self.sync_of(publication, event).await }
    }

    /// The calendars of a hold set. All must be visible, and the actor must be allowed to place holds on them.
    async fn calendars_of_set(&self, actor: &Actor, new: &NewHoldSet) -> Result<Vec<Calendar>, Refusal> {
        let mut calendars = Vec::with_capacity(new.calendars.len() + new.agents.len());
        for id in &new.calendars {
            let calendar = self.any_calendar(actor, id).await?;
            actor.for_new_hold(calendar.agent)?;
            calendars.push(calendar);
        }
        for (index, id) in new.agents.iter().enumerate() {
            let agent = self.any_agent(actor, id).await?;
            actor.for_new_hold(Some(agent.id))?;
            let agent = agent.living()?.id;
            let wrong = |why: &str| FieldError::new(format!("agent_ids[{index}]"), format!("{agent} {why}"));
            // The same rule as for the event of a participant of a proposal.
            let only = match self.first_calendars(actor.org(), agent).await?[..] {
                [only] => self.parts.store.find_calendar(actor.org(), only).await?,
                [] => None,
                _ => {
                    let why = "has several calendars; send the id of one of them in calendar_ids instead";
                    return Err(wrong(why).into());
                }
            };
            let calendar = only.ok_or_else(|| wrong("has no calendar; leave it out, or create a calendar for it"))?;
            if calendars.iter().any(|other: &Calendar| other.id == calendar.id) {
                return Err(wrong("has its calendar among calendar_ids; name it once").into());
            }
            calendars.push(calendar);
        }
        Ok(calendars)
    }

    /// Checks what a scope allows on calendars of others, if the set has any. Adds to `changes` who placed it, and a
    /// guard against more such holds than are allowed.
    async fn place_on_others(
        &self,
        actor: &Actor,
        calendars: &[Calendar],
        new: &NewHoldSet,
        set: HoldSetId,
        now: Timestamp,
        changes: &mut ChangeSet,
    ) -> Result<(), Refusal> {
        let others = calendars.iter().filter(|calendar| !actor.sees_all_of(calendar.agent)).count();
        let (1.., Some(agent)) = (others, actor.widened_by(Scope::HoldsOrg)) else { return Ok(()) };
        if new.hold.hold.priority > 0 {
            let message = "must be 0, or left out, for a hold on a calendar of others";
            return Err(FieldError::new("hold_priority", message).into());
        }
        if new.if_as_of.is_some() {
            return Err(FieldError::new("if_as_of", NOT_FOR_OTHERS).into());
        }
        let alive = self.parts.store.count_placed_holds(actor.org(), agent, now).await?;
        let others = u64::try_from(others).unwrap_or(u64::MAX);
        if alive.saturating_add(others) > PLACED_HOLDS_MAX {
            return Err(Refusal::PlacedHolds { alive });
        }
        changes.guards.push(Guard::PlacedAtMost { agent, limit: PLACED_HOLDS_MAX, now });
        changes.calendars.push(Change::PlaceHolds { org: actor.org(), set, agent });
        Ok(())
    }
}

/// When a calendar is busy in the wanted time, without what makes it so.
fn busy_only(blocks: &[Block], wanted: Span) -> Vec<Block> {
    let busy = BusySet::from_unsorted(blocks.iter().filter_map(|block| block.span.clip(wanted)).collect());
    busy.spans().iter().map(|span| Block { kind: BlockKind::Event, span: *span }).collect()
}

/// The calendars of which the actor does not see everything.
fn hidden(actor: &Actor, calendars: impl Iterator<Item = (CalendarId, Option<AgentId>)>) -> BTreeSet<CalendarId> {
    calendars.filter(|(_, owner)| !actor.sees_all_of(*owner)).map(|(calendar, _)| calendar).collect()
}

/// The value that all share, if they share one.
fn only<T: PartialEq>(values: impl Iterator<Item = Option<T>>) -> Option<T> {
    let mut values: Vec<Option<T>> = values.collect();
    let first = values.pop()?;
    values.iter().all(|value| *value == first).then_some(first).flatten()
}

/// One hold of a set.
fn held(new: &NewHoldSet) -> NewEvent {
    NewEvent {
        title: new.title.clone(),
        description: None,
        location: None,
        conference_url: None,
        attendees: Attendees::default(),
        start: Moment::At(new.span.start()),
        end: Moment::At(new.span.end()),
        all_day: false,
        status: EventStatus::Hold,
        metadata: Metadata::default(),
        reminders: None,
        recurrence: None,
        hold: Some(new.hold.clone()),
        if_free: false,
        if_as_of: None,
        send_invitations: false,
    }
}
