//! Holds: placing, confirming and releasing them, one by one and in sets, and ending them when they expire.

use std::collections::BTreeSet;

use kalends_availability::BusySet;
use kalends_calendars::{
    AsOf, Attendees, CHANGED_SINCE_MAX, CONFLICTS_MAX, Calendar, Change, EndedHold, Event, EventError, EventStatus,
    ExternalSync, Hold, HoldScope, HoldSet, HumanFor, Moment, NewEvent, NewHold, Taken, confirm_all, place,
    ports::{BusySource, HoldSetFilter, LiveHold, OwnedEvent, StatusAt},
    release_all,
};
use kalends_calendars::{Block, BlockKind};
use kalends_kernel::{CalendarId, EventId, FieldError, HoldSetId, Listed, Metadata, OrgId, Page};
use kalends_notifications::EventType;
use kalends_plans::{Feature, Metric};
use kalends_time::{Span, Timestamp};
use kalends_wire::NewHoldSet;

use crate::{
    Actor, Answered, App, ChangeSet, EventPath, Guard, Missing, Refusal,
    attempt::{Attempt, retry_stale},
    availability::widest,
    changed_event::ChangedEvent,
    commits::limit,
    conflicts::{CalendarBusy, obstacles},
    local::LocalZones,
    ports::HumanSeen,
};

/// Why a state of availability is no condition for a series.
pub(crate) const NOT_FOR_SERIES: &str =
    "is for one event or one occurrence, because availability shows a window; send if_free for a series";

/// What one or several holds need.
struct Wanted<'a> {
    span: Span,
    priority: u8,
    /// The calendars that it must fit on, each once.
    calendars: &'a [CalendarId],
    /// The hold or event that moves, as it was read. It does not block itself.
    moved: Option<&'a Event>,
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
            let owned = OwnedEvent { event, agent: calendar.agent };
            self.fit(actor, &owned, (wanted.hold, new.if_as_of.as_ref()), None, now, &mut changes).await?;
            let OwnedEvent { event, agent } = owned;
            limit(actor, &mut changes, Metric::Events, 1, now);
            let (resource, about, zone) = (event.id.to_string(), EventType::EventHoldCreated, Some(calendar.zone));
            self.commit_event(actor, ChangedEvent { event, about, resource, agent, zone }, now, changes).await
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
        OwnedEvent { event, agent }: &OwnedEvent,
        (hold, if_as_of): (Hold, Option<&AsOf>),
        moved: Option<&Event>,
        now: Timestamp,
        changes: &mut ChangeSet,
    ) -> Result<(), Attempt> {
        let calendars = match (hold.scope, *agent) {
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
        let span = event.times.span;
        let wanted = Wanted { span, priority: hold.priority, calendars: &calendars, moved, if_as_of };
        self.make_room(actor, &wanted, now, changes).await
    }

    /// Refuses an event if something relevant to its time has changed since the caller decided. `before` is the event as it
    /// was read, if it exists.
    pub(crate) async fn require_unchanged(
        &self,
        actor: &Actor,
        if_as_of: Option<&AsOf>,
        (event, before): (&Event, Option<&Event>),
        now: Timestamp,
        changes: &mut ChangeSet,
    ) -> Result<(), Attempt> {
        let Some(as_of) = if_as_of else { return Ok(()) };
        if event.recurrence().is_some() {
            return Err(FieldError::new("if_as_of", NOT_FOR_SERIES).into());
        }
        let calendars = [event.calendar];
        check_covers(as_of, &calendars)?;
        let wanted =
            Wanted { span: event.times.span, priority: 0, calendars: &calendars, moved: before, if_as_of: Some(as_of) };
        self.unchanged_since(actor, as_of, &wanted, now, changes).await
    }

    /// Adds the writes that make room for holds to `changes`, with guards against anything else being scheduled there
    /// before the commit.
    async fn make_room(
        &self,
        actor: &Actor,
        wanted: &Wanted<'_>,
        now: Timestamp,
        changes: &mut ChangeSet,
    ) -> Result<(), Attempt> {
        let org = actor.org();
        if let Some(as_of) = wanted.if_as_of {
            self.unchanged_since(actor, as_of, wanted, now, changes).await?;
        }
        let mut conflicts = Vec::new();
        let mut sources = Vec::with_capacity(wanted.calendars.len());
        for calendar in wanted.calendars.iter().copied() {
            let CalendarBusy { source, blocks, mut holds } =
                self.calendar_busy(org, calendar, wanted.span, None).await?;
            changes.guards.push(Guard::CalendarTime { calendar, seen: source.revision, window: wanted.span });
            sources.push(source);
            holds.retain(|hold| wanted.moved.is_none_or(|moved| hold.id != moved.id));
            match place(wanted.span, wanted.priority, &blocks, &holds, now) {
                Ok(ended) => ended.into_iter().for_each(|ended| self.end_hold(ended, now, changes)),
                Err(Taken(blocks)) => conflicts.extend(blocks.into_iter().map(|block| (calendar, block))),
            }
        }
        if conflicts.is_empty() {
            return Ok(());
        }
        if let Some(moved) = wanted.moved {
            // If it was confirmed since it was read, it is now an event that blocks itself.
            let found = self.parts.store.find_event(org, moved.id).await?;
            if found.is_none_or(|found| found.event.version != moved.version) {
                return Err(Attempt::Stale);
            }
        }
        Err(Refusal::SlotTaken(obstacles(wanted.span, conflicts, sources)).into())
    }

    /// Refuses if a blocking event in the wanted time (buffers included) or a rule has changed since the caller
    /// decided. Adds guards against any change to a blocking event before the commit. A rule that changes between this
    /// check and the commit counts as changed after the hold was placed.
    async fn unchanged_since(
        &self,
        actor: &Actor,
        as_of: &AsOf,
        wanted: &Wanted<'_>,
        now: Timestamp,
        changes: &mut ChangeSet,
    ) -> Result<(), Attempt> {
        let org = actor.org();
        let (mut conflicts, mut ruled, mut sources) = (Vec::new(), false, Vec::new());
        for (calendar, since) in as_of.calendars.iter().copied() {
            // A calendar that is gone takes no time.
            let Some(source) = self.parts.store.source_of_calendar(org, calendar).await? else { continue };
            actor.for_agent(source.agent)?;
            let (mut seen, mut window) = (source.revision, widest(wanted.span));
            // A revision in the future belongs to another state of the database.
            ruled |= since > source.revision;
            if source.revision != since && conflicts.len() < CONFLICTS_MAX {
                let rules = self.parts.store.find_rules(org, calendar).await?.map(|row| row.rules).unwrap_or_default();
                let reads = rules.reads(wanted.span);
                let changed =
                    self.parts.store.changed_since(org, calendar, since, reads).await?.ok_or(Attempt::Stale)?;
                (seen, window) = (changed.revision, reads);
                // There may be more changed events than were read.
                ruled |= changed.rules_changed || changed.events.len() >= CHANGED_SINCE_MAX as usize;
                let own = wanted.moved.map(|moved| (moved.id, moved.occurrence().map(|occurrence| occurrence.series)));
                let is_own = |event: &Event| own.is_some_and(|(id, series)| event.id == id || series == Some(event.id));
                let others = changed.events.iter().filter(|event| !is_own(event));
                let blocks = others.flat_map(|event| blocks_in(event, reads, now));
                conflicts.extend(blocks.map(|block| (calendar, block)));
            }
            changes.guards.push(Guard::CalendarTime { calendar, seen, window });
            sources.push(source);
        }
        conflicts.extend(self.humans_changed_since(org, as_of, &sources, wanted.span, now).await?);
        if conflicts.is_empty() && !ruled {
            return Ok(());
        }
        for calendar in wanted.calendars.iter().copied() {
            if !sources.iter().any(|source| source.calendar == calendar) {
                sources.extend(self.parts.store.source_of_calendar(org, calendar).await?);
            }
        }
        Err(Refusal::Outdated(obstacles(wanted.span, conflicts, sources)).into())
    }

    /// The busy times in the wanted time (buffers included) of human calendars that changed since the caller decided.
    async fn humans_changed_since(
        &self,
        org: OrgId,
        as_of: &AsOf,
        sources: &[BusySource],
        span: Span,
        now: Timestamp,
    ) -> Result<Vec<(CalendarId, Block)>, Refusal> {
        let known = |seen: &HumanSeen| {
            as_of
                .humans
                .iter()
                .any(|human| (human.of, human.source, human.revision) == (seen.of, seen.source, seen.revision))
        };
        let mut seen = self.humans_of(org, sources).await?;
        seen.retain(|seen| !known(seen));
        let changed = seen.iter().filter_map(|seen| match seen.of {
            HumanFor::Calendar(calendar) => Some(calendar),
            // An agent without a calendar has nothing to place a hold on.
            HumanFor::Agent(_) => None,
        });
        let changed: BTreeSet<CalendarId> = changed.collect();
        if changed.is_empty() {
            return Ok(Vec::new());
        }
        let humans = self.read_humans(org, seen, widest(span), now, true).await?;
        let mut conflicts = Vec::new();
        for calendar in changed {
            let rules = self.parts.store.find_rules(org, calendar).await?.map(|row| row.rules).unwrap_or_default();
            let busy = humans.busy(calendar, rules.reads(span)).unwrap_or(BusySet::EMPTY);
            let blocks = busy.spans().iter().map(|span| Block { kind: BlockKind::HumanBusy, span: *span });
            conflicts.extend(blocks.map(|block| (calendar, block)));
        }
        Ok(conflicts)
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

    /// Confirms a live hold.
    ///
    /// # Errors
    /// [`Refusal::PlanRequired`], [`Refusal::NotFound`], [`Refusal::Hold`].
    pub async fn confirm_hold(&self, actor: &Actor, id: &str) -> Result<Answered<kalends_wire::Event>, Refusal> {
        self.decide_hold(actor, id, EventType::EventHoldConfirmed, Event::confirmed).await
    }

    /// Releases a live hold.
    ///
    /// # Errors
    /// [`Refusal::PlanRequired`], [`Refusal::NotFound`], [`Refusal::Hold`].
    pub async fn release_hold(&self, actor: &Actor, id: &str) -> Result<Answered<kalends_wire::Event>, Refusal> {
        self.decide_hold(actor, id, EventType::EventHoldReleased, Event::released).await
    }

    async fn decide_hold(
        &self,
        actor: &Actor,
        id: &str,
        about: EventType,
        decide: fn(&Event, Timestamp) -> Result<Event, EventError>,
    ) -> Result<Answered<kalends_wire::Event>, Refusal> {
        actor.needs(Feature::Holds)?;
        let path = EventPath { calendar: None, id };
        let id: EventId = id.parse().map_err(|_| path.missing())?;
        // The request that ends the hold writes its row, even to take its time. So the row's version is the only condition.
        retry_stale(|| async {
            let OwnedEvent { event: seen, agent } = self.owned_event(actor, path, id).await?;
            let now = self.now();
            let event = decide(&seen, now)?;
            let zones = self.local_zones(actor, std::slice::from_ref(&event)).await?;
            let mut changes = ChangeSet::new(actor.org());
            changes.calendars.push(Change::UpdateEvent { event: event.clone(), seen: seen.version });
            let (resource, zone) = (id.to_string(), zones.of(event.calendar));
            self.commit_event(actor, ChangedEvent { event, about, resource, agent, zone }, now, changes).await
        })
        .await
    }

    /// Places one hold on each of several calendars, or none.
    ///
    /// # Errors
    /// As for [`Self::create_event`] with a hold; [`Refusal::SlotTaken`] names every calendar that is taken.
    pub async fn create_hold_set(
        &self,
        actor: &Actor,
        mut new: NewHoldSet,
    ) -> Result<Answered<kalends_wire::HoldSet>, Refusal> {
        actor.needs(Feature::Holds)?;
        new.hold.longest = actor.longest_hold();
        let calendars = self.calendars_of_set(actor, &new.calendars).await?;
        let if_as_of = new.if_as_of.as_ref();
        let ids: Vec<CalendarId> = calendars.iter().map(|calendar| calendar.id).collect();
        if let Some(as_of) = if_as_of {
            check_covers(as_of, &ids)?;
        }
        let turn = self.holding.lock(ids.iter().copied()).await;
        let placed = retry_stale(|| async {
            let calendars = self.calendars_of_set(actor, &new.calendars).await?;
            let now = self.now();
            let set = HoldSetId::new(now, self.entropy());
            let mut changes = ChangeSet::new(actor.org());
            let mut events = Vec::with_capacity(calendars.len());
            for calendar in &calendars {
                let id = EventId::new(now, self.entropy());
                let event = Event::create(id, calendar, held(&new), now)?;
                events.push(Event { hold_set: Some(set), ..event });
            }
            let priority = new.hold.hold.priority;
            let wanted = Wanted { span: new.span, priority, calendars: &ids, moved: None, if_as_of };
            self.make_room(actor, &wanted, now, &mut changes).await?;
            limit(actor, &mut changes, Metric::Events, events.len() as u64, now);
            changes.calendars.extend(events.iter().cloned().map(Change::CreateEvent));
            let agent = only(calendars.iter().map(|calendar| calendar.agent));
            let answer =
                self.announce_set(actor, set, events, |_| Some(EventType::EventHoldCreated), now, &mut changes).await?;
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
        let events: Vec<Event> = found.into_iter().map(|owned| owned.event).collect();
        let zones = self.local_zones(actor, &events).await?;
        Ok(shown(HoldSet { id, events }, &zones, self.now()))
    }

    /// The hold sets that still have an event, by creation. An agent's key sees the sets whose events are all on
    /// calendars of its agent. An expired hold counts as cancelled.
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
        let filter =
            HoldSetFilter { agent: actor.narrowed_to(), status: status.map(|status| StatusAt { status, now }) };
        let found = self.parts.store.list_hold_sets(actor.org(), filter, page).await?;
        Ok(found.map(|set| shown(set, &LocalZones::default(), now)))
    }

    /// The events of a hold set. The actor must have access to all of them.
    async fn owned_hold_set(&self, actor: &Actor, id: &str) -> Result<(HoldSetId, Vec<OwnedEvent>), Refusal> {
        let missing = || Refusal::missing(Missing::HoldSet, id);
        let set: HoldSetId = id.parse().map_err(|_| missing())?;
        let found = self.parts.store.events_of_hold_set(actor.org(), set).await?;
        if found.is_empty() {
            return Err(missing());
        }
        found.iter().try_for_each(|owned| actor.for_agent(owned.agent))?;
        Ok((set, found))
    }

    /// Confirms all holds of a set, or none of them.
    ///
    /// # Errors
    /// [`Refusal::PlanRequired`], [`Refusal::NotFound`], [`Refusal::HoldSet`] if one of them is not a live hold.
    pub async fn confirm_hold_set(&self, actor: &Actor, id: &str) -> Result<Answered<kalends_wire::HoldSet>, Refusal> {
        self.decide_hold_set(actor, id, EventType::EventHoldConfirmed, confirm_all).await
    }

    /// Releases the live holds of a set.
    ///
    /// # Errors
    /// [`Refusal::PlanRequired`], [`Refusal::NotFound`], [`Refusal::HoldSet`] if none of them is a live hold.
    pub async fn release_hold_set(&self, actor: &Actor, id: &str) -> Result<Answered<kalends_wire::HoldSet>, Refusal> {
        self.decide_hold_set(actor, id, EventType::EventHoldReleased, release_all).await
    }

    async fn decide_hold_set(
        &self,
        actor: &Actor,
        id: &str,
        event_type: EventType,
        decide: fn(&[Event], Timestamp) -> Result<Vec<Event>, kalends_calendars::HoldSetError>,
    ) -> Result<Answered<kalends_wire::HoldSet>, Refusal> {
        actor.needs(Feature::Holds)?;
        retry_stale(|| async {
            let (set, found) = self.owned_hold_set(actor, id).await?;
            let agent = only(found.iter().map(|owned| owned.agent));
            let seen: Vec<Event> = found.into_iter().map(|owned| owned.event).collect();
            let now = self.now();
            let events = decide(&seen, now)?;
            let mut changes = ChangeSet::new(actor.org());
            let mut changed = BTreeSet::new();
            for (seen, event) in seen.iter().zip(&events) {
                if event.version != seen.version {
                    changed.insert(event.id);
                    changes.calendars.push(Change::UpdateEvent { event: event.clone(), seen: seen.version });
                }
            }
            let type_of = |event: &Event| changed.contains(&event.id).then_some(event_type);
            let answer = self.announce_set(actor, set, events, type_of, now, &mut changes).await?;
            self.commit_for(actor, agent, set.to_string(), changes, answer).await
        })
        .await
    }

    /// Adds a webhook message for each event for which `type_of` returns a type, and returns all events.
    async fn announce_set(
        &self,
        actor: &Actor,
        set: HoldSetId,
        events: Vec<Event>,
        type_of: impl Fn(&Event) -> Option<EventType>,
        now: Timestamp,
        changes: &mut ChangeSet,
    ) -> Result<Answered<kalends_wire::HoldSet>, Refusal> {
        let zones = self.local_zones(actor, &events).await?;
        let mut holds = Vec::with_capacity(events.len());
        for event in events {
            let (event_type, version) = (type_of(&event), event.version);
            let resource = kalends_wire::Event::from(event.at(now));
            let message = |event_type| self.message(actor.org(), event_type, &resource, version, now);
            changes.messages.extend(event_type.map(message));
            holds.push(zones.with_local(resource.with_external_sync(ExternalSync::NotConfigured)));
        }
        Ok(Answered::shows(&actor.request, kalends_wire::HoldSet { id: set, holds }, None))
    }

    /// The calendars of a hold set. All must be visible, and the actor must have access.
    async fn calendars_of_set(&self, actor: &Actor, ids: &[String]) -> Result<Vec<Calendar>, Refusal> {
        let mut calendars = Vec::with_capacity(ids.len());
        for id in ids {
            calendars.push(self.calendar(actor, id).await?);
        }
        Ok(calendars)
    }
}

/// The time that an event takes in `window`, as blocks.
fn blocks_in(event: &Event, window: Span, now: Timestamp) -> Vec<Block> {
    let spans: Vec<Span> = match event.repeating() {
        Some(series) => series.occurrences(window).take(CONFLICTS_MAX).collect(),
        None => {
            let held = event.held_time().filter(|held| held.expires_at > now).map(|held| held.span);
            event.busy().or(held).filter(|span| span.overlaps(window)).into_iter().collect()
        }
    };
    spans.into_iter().map(|span| Block { span, ..event.block() }).collect()
}

/// Checks that an `as_of` covers the calendars that the holds are placed on.
fn check_covers(as_of: &AsOf, calendars: &[CalendarId]) -> Result<(), FieldError> {
    let covers = |calendar: &CalendarId| as_of.calendars.iter().any(|(covered, _)| covered == calendar);
    match calendars.iter().find(|calendar| !covers(calendar)) {
        None => Ok(()),
        Some(missing) => {
            let message = format!("must come from an answer that covers {missing}; query its availability first");
            Err(FieldError::new("if_as_of", message))
        }
    }
}

/// The set as it is at `now`.
fn shown(set: HoldSet, zones: &LocalZones, now: Timestamp) -> kalends_wire::HoldSet {
    let shown = |event: Event| zones.to_wire(event.at(now)).with_external_sync(ExternalSync::NotConfigured);
    kalends_wire::HoldSet { id: set.id, holds: set.events.into_iter().map(shown).collect() }
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
