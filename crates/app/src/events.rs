//! Events: create, read, change, delete.

use kalends_calendars::{
    Attendees, Calendar, Change, Conflicts, Event, EventPatch, INSTANCES_MAX, NewEvent, Occurrence, Patch, SeriesScope,
    Zones, needs_an_occurrence, not_for_holds,
    ports::{EventFilter, EventScope, InstanceFilter, InstanceScope, OwnedEvent},
};
use kalends_kernel::{CalendarId, EventId, FieldError, FieldErrors, Listed, MetadataFilter, Page};
use kalends_notifications::EventType;
use kalends_plans::{Feature, Metric};
use kalends_time::Timestamp;
use kalends_wire::Listing;

use crate::{
    Actor, Answered, App, ChangeSet, EventPath, IfMatch, Refusal,
    attempt::{Attempt, retry_stale},
    changed_event::ChangedEvent,
    commits::limit,
    conflicts::{Placed, Turn, Written},
    event_path::Named,
    invitations::{Invited, InvitedSeries},
    local::shown_in,
    series::{not_a_series, series_limits},
    series_scopes::override_writes,
};

impl App {
    /// Creates an event. An ordinary event may overlap others, unless its calendar or `if_free` forbids it; a hold may
    /// not.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if no such calendar exists; [`Refusal::Invalid`]; [`Refusal::LimitReached`];
    /// [`Refusal::PlanRequired`] for a long-running series and for a hold; [`Refusal::SlotTaken`];
    /// [`Refusal::Outdated`] for a hold.
    pub async fn create_event(
        &self,
        actor: &Actor,
        calendar: &str,
        new: NewEvent,
    ) -> Result<Answered<kalends_wire::Event>, Refusal> {
        if let Some(hold) = new.hold.clone() {
            return self.create_hold(actor, calendar, new, &hold).await;
        }
        let turn = Turn::new();
        let created = retry_stale(|| async {
            let calendar = self.calendar(actor, calendar).await?;
            let now = self.now();
            let mut changes = ChangeSet::new(actor.org());
            let event = self.scheduled(actor, &calendar, new.clone(), &mut changes)?;
            self.know_agents(actor, &Attendees::default(), &event.attendees).await?;
            series_limits(actor, &mut changes, None, &event, now)?;
            let placed = Placed::new(&calendar, &event, new.if_free);
            self.require_free(actor, &placed, &turn, now, &mut changes).await?;
            self.require_unchanged(actor, new.if_as_of.as_ref(), (&event, None), now, &mut changes).await?;
            if new.send_invitations {
                self.invite(actor, Invited::new(None, &event), now, &mut changes).await?;
            }
            limit(actor, &mut changes, Metric::Events, 1, now);
            let (resource, about) = (event.id.to_string(), EventType::EventCreated);
            let (agent, zone, publication) = (calendar.agent, Some(calendar.zone), Some((&calendar).into()));
            let changed = ChangedEvent { event, about, resource, agent, zone, publication };
            self.commit_event(actor, changed, now, changes).await
        })
        .await;
        drop(turn);
        self.with_nearest_free(actor, created).await
    }

    /// Creates several events, all or none.
    ///
    /// # Errors
    /// As [`Self::create_event`]; field errors and conflicts name `events[n]`. Events of the batch that must be free
    /// may not overlap those before them.
    pub async fn create_events(
        &self,
        actor: &Actor,
        calendar: &str,
        new: Vec<NewEvent>,
    ) -> Result<Answered<kalends_wire::EventBatch>, Refusal> {
        let turn = Turn::new();
        let created = retry_stale(|| async {
            let calendar = self.calendar(actor, calendar).await?;
            let now = self.now();
            let mut changes = ChangeSet::new(actor.org());
            let mut errors = FieldErrors::default();
            let mut events = Vec::with_capacity(new.len());
            for (index, new) in new.iter().enumerate() {
                match self.scheduled(actor, &calendar, new.clone(), &mut changes) {
                    Ok(event) => events.push(event),
                    Err(found) => errors.extend_below(&format!("events[{index}]"), &found),
                }
            }
            errors.finish()?;
            let mut written = Written::default();
            let compared = calendar.conflicts == Conflicts::Refuse || new.iter().any(|new| new.if_free);
            for (index, (event, new)) in events.iter().zip(&new).enumerate() {
                let known = self.know_agents(actor, &Attendees::default(), &event.attendees).await;
                known.map_err(|error| Attempt::from(error).about_item(index))?;
                series_limits(actor, &mut changes, None, event, now)?;
                let placed = Placed { written: &written, ..Placed::new(&calendar, event, new.if_free) };
                let free = self.require_free(actor, &placed, &turn, now, &mut changes).await;
                free.map_err(|refused| refused.about_item(index))?;
                let unchanged =
                    self.require_unchanged(actor, new.if_as_of.as_ref(), (event, None), now, &mut changes).await;
                unchanged.map_err(|refused| refused.about_item(index))?;
                if compared {
                    written.add(None, event);
                }
                if new.send_invitations {
                    let invited = self.invite(actor, Invited::new(None, event), now, &mut changes).await;
                    invited.map_err(|refused| refused.about_item(index))?;
                }
            }
            let syncs = self.sync_of_new((&calendar).into(), &events).await?;
            let announced = events.into_iter().zip(syncs).map(|(event, sync)| {
                let resource = self.announced(event, EventType::EventCreated, now, &mut changes);
                shown_in(actor, resource.with_external_sync(sync), calendar.zone)
            });
            let data: Vec<kalends_wire::Event> = announced.collect();
            limit(actor, &mut changes, Metric::Events, data.len() as u64, now);
            let answer = Answered::shows(&actor.request, kalends_wire::EventBatch { data }, None);
            let id = calendar.id.to_string();
            let answered = self.commit_for(actor, calendar.agent, id, changes, answer).await?;
            self.nudge_publishing(Some((&calendar).into()));
            Ok(answered)
        })
        .await;
        drop(turn);
        self.with_nearest_free(actor, created).await
    }

    /// The zones that the events of a calendar follow.
    pub(crate) fn zones(&self, calendar: &Calendar) -> Zones {
        calendar.zones(self.parts.settings.recurrence_default)
    }

    pub(crate) fn scheduled(
        &self,
        actor: &Actor,
        calendar: &Calendar,
        new: NewEvent,
        changes: &mut ChangeSet,
    ) -> Result<Event, FieldErrors> {
        debug_assert_eq!(actor.org(), calendar.org, "a calendar is read with the caller's organization");
        let now = self.now();
        let send = new.send_invitations;
        let event = Event::create_in(EventId::new(now, self.entropy()), calendar, self.zones(calendar), new, now)?;
        let event = self.linked(event, send);
        changes.calendars.push(Change::CreateEvent(event.clone()));
        Ok(event)
    }

    /// A calendar's events, by start.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn list_calendar_events(
        &self,
        actor: &Actor,
        calendar: &str,
        listing: Listing,
        page: Page,
    ) -> Result<Listed<Event>, Refusal> {
        let calendar = self.calendar(actor, calendar).await?;
        self.listed(actor, EventScope::Calendar(calendar.id), listing, page).await
    }

    /// The instances of several calendars, which the caller has just read, by start. Calendars that were deleted since
    /// have none.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`], [`Refusal::MetadataNotIndexed`]; [`Refusal::Invalid`] if there are more than
    /// [`INSTANCES_MAX`].
    pub async fn list_events_of_calendars(
        &self,
        actor: &Actor,
        calendars: &[&Calendar],
        filter: InstanceFilter,
        page: Page,
    ) -> Result<Listed<Event>, Refusal> {
        for calendar in calendars {
            actor.for_agent(calendar.agent)?;
        }
        self.can_filter(actor, &filter.metadata).await?;
        let calendars: Vec<CalendarId> = calendars.iter().map(|calendar| calendar.id).collect();
        self.listed_instances(actor, InstanceScope::Calendars(&calendars), filter, page).await
    }

    /// Indexes the metadata of up to `limit` events of earlier releases. Returns whether that was all.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn index_metadata(&self, limit: u32) -> Result<bool, Refusal> {
        Ok(self.parts.store.index_metadata(limit).await?)
    }

    async fn listed(
        &self,
        actor: &Actor,
        scope: EventScope,
        listing: Listing,
        page: Page,
    ) -> Result<Listed<Event>, Refusal> {
        let (Listing::Events(EventFilter { metadata, .. }) | Listing::Instances(InstanceFilter { metadata, .. })) =
            &listing;
        self.can_filter(actor, metadata).await?;
        match listing {
            Listing::Events(filter) => {
                let now = filter.status.map_or_else(|| self.now(), |at| at.now);
                Ok(at(self.parts.store.list_events(actor.org(), scope, filter, page).await?, now))
            }
            Listing::Instances(filter) => self.listed_instances(actor, (&scope).into(), filter, page).await,
        }
    }

    /// Refuses a filter by metadata while the index that it needs is incomplete.
    async fn can_filter(&self, actor: &Actor, metadata: &MetadataFilter) -> Result<(), Refusal> {
        if !metadata.is_empty() && !self.parts.store.is_metadata_indexed(actor.org()).await? {
            return Err(Refusal::MetadataNotIndexed);
        }
        Ok(())
    }

    async fn listed_instances(
        &self,
        actor: &Actor,
        scope: InstanceScope<'_>,
        filter: InstanceFilter,
        page: Page,
    ) -> Result<Listed<Event>, Refusal> {
        let now = filter.status.map_or_else(|| self.now(), |at| at.now);
        let found = self.parts.store.list_instances(actor.org(), scope, filter, page).await?;
        found.map(|found| at(found, now)).ok_or_else(|| {
            let message = format!("must be earlier: the window contains more than {INSTANCES_MAX} instances");
            FieldError::new("start_before", message).into()
        })
    }

    /// The events of all calendars of an agent, by start.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn list_agent_events(
        &self,
        actor: &Actor,
        agent: &str,
        listing: Listing,
        page: Page,
    ) -> Result<Listed<Event>, Refusal> {
        let agent = self.agent(actor, agent).await?;
        self.listed(actor, EventScope::Agent(agent.id), listing, page).await
    }

    /// One visible event, or one occurrence of a series.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::OutOfReach`].
    pub async fn event(&self, actor: &Actor, path: EventPath<'_>) -> Result<Event, Refusal> {
        match path.named()? {
            Named::Event(id) => Ok(self.owned_event(actor, path, id).await?.event.at(self.now())),
            Named::Occurrence(occurrence) => {
                retry_stale(|| async { Ok(self.occurrence(actor, path, occurrence).await?.event) }).await
            }
        }
    }

    /// The event `id`. `path` names the event or one of its occurrences.
    pub(crate) async fn owned_event(
        &self,
        actor: &Actor,
        path: EventPath<'_>,
        id: EventId,
    ) -> Result<OwnedEvent, Refusal> {
        let owned = self.parts.store.find_event(actor.org(), id).await?;
        // An identifier has exactly one written form, so comparing the text compares the calendar.
        let here =
            |owned: &OwnedEvent| path.calendar.is_none_or(|calendar| owned.event.calendar.to_string() == calendar);
        if let Some(owned) = owned.filter(here) {
            actor.for_agent(owned.agent)?;
            return Ok(owned);
        }
        if let Some(calendar) = path.calendar {
            // If the calendar itself is missing, report that instead.
            self.calendar(actor, calendar).await?;
        }
        Err(path.missing())
    }

    /// Changes an event, or the occurrences of a series that `scope` names. With [`SeriesScope::Following`], the answer is
    /// the new series.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::ReadOnly`], [`Refusal::Stale`], [`Refusal::Invalid`], [`Refusal::Hold`];
    /// [`Refusal::PlanRequired`] and [`Refusal::LimitReached`] if it becomes a series or is split;
    /// [`Refusal::PlanRequired`] for a new expiry of a hold; [`Refusal::SlotTaken`] if a hold, or an event whose times
    /// must be free, gets a time that is taken.
    pub async fn update_event(
        &self,
        actor: &Actor,
        path: EventPath<'_>,
        scope: SeriesScope,
        mut patch: EventPatch,
        if_match: &IfMatch,
    ) -> Result<Answered<kalends_wire::Event>, Refusal> {
        if let Patch::Set(expiry) = &mut patch.hold_expires_at {
            actor.needs(Feature::Holds)?;
            expiry.longest = actor.longest_hold();
        }
        let named = path.named()?;
        let _turn = self.changing.lock([named.event()]).await;
        let id = match (named, scope) {
            (Named::Event(id), SeriesScope::This) => id,
            (Named::Event(_), _) => return Err(needs_an_occurrence().into()),
            (Named::Occurrence(occurrence), SeriesScope::This) => {
                return self.update_occurrence(actor, path, occurrence, patch, if_match).await;
            }
            (Named::Occurrence(occurrence), scope) => {
                return self.update_occurrences(actor, path, occurrence, scope, patch, if_match).await;
            }
        };
        let turn = Turn::new();
        let changed = retry_stale(|| async {
            let OwnedEvent { event: seen, agent, .. } = self.owned_event(actor, path, id).await?;
            if_match.check(seen.version)?;
            let calendar = self.parts.store.find_calendar(actor.org(), seen.calendar).await?;
            let calendar = calendar.ok_or_else(|| path.missing())?;
            let now = self.now();
            let event = seen.patched(patch.clone(), self.zones(&calendar), now)?;
            let event = self.linked(event, patch.send_invitations);
            self.know_agents(actor, &seen.attendees, &event.attendees).await?;
            let mut changes = ChangeSet::new(actor.org());
            series_limits(actor, &mut changes, Some(&seen), &event, now)?;
            self.drop_overrides(&mut changes, &seen, &event, now).await?;
            if event.times.span != seen.times.span
                && let Ok(hold) = event.live_hold(now)
            {
                // A hold that moves must fit again.
                self.fit(actor, (&event, agent), (hold, None), Some(&seen), now, &mut changes).await?;
            }
            let placed =
                Placed { before: Some(&seen), row: Some(&seen), ..Placed::new(&calendar, &event, patch.if_free) };
            self.require_free(actor, &placed, &turn, now, &mut changes).await?;
            let as_of = patch.if_as_of.as_ref();
            self.require_unchanged(actor, as_of, (&event, Some(&seen)), now, &mut changes).await?;
            let overrides = self.overrides_with_attendees(&seen, &event).await?;
            if patch.send_invitations {
                let rows = self.overrides(&seen).await?;
                let invited = InvitedSeries { before: Some(&seen), event: &event, rows, changed: &overrides };
                self.invite_to_series(actor, invited, now, &mut changes).await?;
            }
            changes.calendars.extend(override_writes(overrides, now)?);
            changes.calendars.push(Change::UpdateEvent { event: event.clone(), seen: seen.version });
            let (resource, about, zone) = (event.id.to_string(), EventType::EventUpdated, Some(calendar.zone));
            let (event, publication) = (event.at(now), Some((&calendar).into()));
            let changed = ChangedEvent { event, about, resource, agent, zone, publication };
            self.commit_event(actor, changed, now, changes).await
        })
        .await;
        drop(turn);
        self.with_nearest_free(actor, changed).await
    }

    /// Deletes an event, a series with everything that belongs to it, or the occurrences of a series that `scope` names.
    /// With `occurrence_start`, only that occurrence of a series is removed, and the series is the resource. With
    /// `send_invitations`, the attendees get a cancellation.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::ReadOnly`], [`Refusal::Stale`]; [`Refusal::Invalid`] for an
    /// `occurrence_start` if the event is not a series, and for a scope if the path names no occurrence.
    pub async fn delete_event(
        &self,
        actor: &Actor,
        path: EventPath<'_>,
        scope: SeriesScope,
        occurrence_start: Option<Timestamp>,
        send_invitations: bool,
        if_match: &IfMatch,
    ) -> Result<Answered<Option<kalends_wire::Event>>, Refusal> {
        let named = path.named()?;
        let _turn = self.changing.lock([named.event()]).await;
        let id = match (named, occurrence_start) {
            (Named::Occurrence(_), Some(_)) => return Err(not_a_series().into()),
            (Named::Occurrence(occurrence), None) => {
                let nothing = match scope {
                    SeriesScope::This => {
                        self.delete_occurrence(actor, path, occurrence, send_invitations, if_match).await?
                    }
                    scope => {
                        self.delete_occurrences(actor, path, (occurrence, scope), send_invitations, if_match).await?
                    }
                };
                return Ok(nothing.map(|()| None));
            }
            (Named::Event(_), _) if scope != SeriesScope::This => return Err(needs_an_occurrence().into()),
            (Named::Event(id), None) => id,
            (Named::Event(series), Some(start)) => {
                let occurrence = Occurrence { series, start };
                let series = self.cancel_occurrence(actor, path, occurrence, send_invitations, if_match).await?;
                return Ok(series.map(Some));
            }
        };
        retry_stale(|| async {
            let owned = self.owned_event(actor, path, id).await?;
            if_match.check(owned.event.version)?;
            Ok(self.delete_whole(actor, &owned, send_invitations).await?.map(|()| None))
        })
        .await
    }

    /// Deletes an event with everything that belongs to it.
    pub(crate) async fn delete_whole(
        &self,
        actor: &Actor,
        OwnedEvent { event: seen, agent, .. }: &OwnedEvent,
        send_invitations: bool,
    ) -> Result<Answered<()>, Attempt> {
        if send_invitations && seen.hold.is_some() {
            return Err(not_for_holds().into());
        }
        let now = self.now();
        let event = seen.deleted(now)?;
        let mut changes = ChangeSet::new(actor.org());
        self.drop_overrides(&mut changes, seen, &event, now).await?;
        if send_invitations {
            let rows = self.overrides(seen).await?;
            let invited = InvitedSeries { before: Some(seen), event: &event, rows, changed: &[] };
            self.invite_to_series(actor, invited, now, &mut changes).await?;
        }
        changes.calendars.push(Change::UpdateEvent { event: event.clone(), seen: seen.version });
        self.announced(event.at(now), EventType::EventDeleted, now, &mut changes);
        self.commit_for(actor, *agent, seen.id.to_string(), changes, Answered::nothing(&actor.request)).await
    }
}

/// The events as of `now`.
fn at(listed: Listed<Event>, now: Timestamp) -> Listed<Event> {
    Listed { data: listed.data.into_iter().map(|event| event.at(now)).collect(), total: listed.total }
}
