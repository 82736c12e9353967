//! Events: create, read, change, delete.

use kalends_calendars::{
    Calendar, Change, Event, EventPatch, ExternalSync, NewEvent,
    ports::{EventFilter, EventScope, OwnedEvent},
};
use kalends_kernel::{EventId, FieldErrors, Listed, Page};
use kalends_notifications::EventType;
use kalends_quotas::Metric;

use crate::{
    Actor, Answer, App, ChangeSet, IfMatch, Missing, Refusal,
    app::{limit, nothing, retry_stale, shown},
};

/// Which event a request names: by its calendar's route or by its own.
#[derive(Debug, Clone, Copy)]
pub struct EventPath<'a> {
    /// The calendar of the route, if the route names one.
    pub calendar: Option<&'a str>,
    /// The event.
    pub id: &'a str,
}

impl App {
    /// Creates an event. A plain event may overlap others (ruling 4.9).
    ///
    /// # Errors
    /// [`Refusal::NotFound`] without such a calendar, [`Refusal::Invalid`], [`Refusal::LimitReached`].
    pub async fn create_event(&self, actor: &Actor, calendar: &str, new: NewEvent) -> Result<Answer, Refusal> {
        retry_stale(|| async {
            let calendar = self.calendar(actor, calendar).await?;
            let now = self.now();
            let mut changes = ChangeSet::new(actor.org());
            let event = self.scheduled(actor, &calendar, new.clone(), &mut changes)?;
            limit(actor, &mut changes, Metric::Events, 1, now);
            let (id, version) = (event.id, event.version);
            let resource = kalends_wire::Event::from(event);
            changes.messages.push(self.message(actor.org(), EventType::EventCreated, &resource, version, now));
            let answer = shown(actor, &resource.with_external_sync(ExternalSync::NotConfigured), Some(version));
            self.commit_for(actor, calendar.agent, id.to_string(), changes, answer).await
        })
        .await
    }

    /// Creates several events, all or none.
    ///
    /// # Errors
    /// As [`Self::create_event`]; field errors name `events[n]`.
    pub async fn create_events(&self, actor: &Actor, calendar: &str, new: Vec<NewEvent>) -> Result<Answer, Refusal> {
        retry_stale(|| async {
            let calendar = self.calendar(actor, calendar).await?;
            let now = self.now();
            let mut changes = ChangeSet::new(actor.org());
            let mut errors = FieldErrors::default();
            let mut data = Vec::with_capacity(new.len());
            for (index, new) in new.iter().enumerate() {
                match self.scheduled(actor, &calendar, new.clone(), &mut changes) {
                    Ok(event) => {
                        let version = event.version;
                        let resource = kalends_wire::Event::from(event);
                        let message = self.message(actor.org(), EventType::EventCreated, &resource, version, now);
                        changes.messages.push(message);
                        data.push(resource.with_external_sync(ExternalSync::NotConfigured));
                    }
                    Err(found) => errors.extend_below(&format!("events[{index}]"), &found),
                }
            }
            errors.finish()?;
            limit(actor, &mut changes, Metric::Events, data.len() as u64, now);
            let answer = shown(actor, &kalends_wire::EventBatch { data }, None);
            self.commit_for(actor, calendar.agent, calendar.id.to_string(), changes, answer).await
        })
        .await
    }

    fn scheduled(
        &self,
        actor: &Actor,
        calendar: &Calendar,
        new: NewEvent,
        changes: &mut ChangeSet,
    ) -> Result<Event, FieldErrors> {
        debug_assert_eq!(actor.org(), calendar.org, "a calendar is read with the caller's organization");
        let now = self.now();
        let event = Event::create(EventId::new(now, self.entropy()), calendar, new, now)?;
        changes.calendars.push(Change::CreateEvent(event.clone()));
        Ok(event)
    }

    /// A calendar's events by start.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn list_calendar_events(
        &self,
        actor: &Actor,
        calendar: &str,
        filter: EventFilter,
        page: Page,
    ) -> Result<Listed<Event>, Refusal> {
        let calendar = self.calendar(actor, calendar).await?;
        Ok(self.store.list_events(actor.org(), EventScope::Calendar(calendar.id), filter, page).await?)
    }

    /// The events of all calendars of an agent by start.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn list_agent_events(
        &self,
        actor: &Actor,
        agent: &str,
        filter: EventFilter,
        page: Page,
    ) -> Result<Listed<Event>, Refusal> {
        let agent = self.agent(actor, agent).await?;
        Ok(self.store.list_events(actor.org(), EventScope::Agent(agent.id), filter, page).await?)
    }

    /// One event in sight.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::OutOfReach`].
    pub async fn event(&self, actor: &Actor, path: EventPath<'_>) -> Result<Event, Refusal> {
        Ok(self.owned_event(actor, path).await?.event)
    }

    async fn owned_event(&self, actor: &Actor, path: EventPath<'_>) -> Result<OwnedEvent, Refusal> {
        let missing = || Refusal::missing(Missing::Event, path.id);
        let Ok(id) = path.id.parse::<EventId>() else {
            return Err(missing());
        };
        let owned = self.store.find_event(actor.org(), id).await?;
        // An identifier has one written form, so that comparing the text compares the calendar.
        let here =
            |owned: &OwnedEvent| path.calendar.is_none_or(|calendar| owned.event.calendar.to_string() == calendar);
        if let Some(owned) = owned.filter(here) {
            actor.for_agent(owned.agent)?;
            return Ok(owned);
        }
        if let Some(calendar) = path.calendar {
            // Where the calendar itself is missing, that is what the caller should hear.
            self.calendar(actor, calendar).await?;
        }
        Err(missing())
    }

    /// Changes an event.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::ReadOnly`], [`Refusal::Stale`], [`Refusal::Invalid`].
    pub async fn update_event(
        &self,
        actor: &Actor,
        path: EventPath<'_>,
        patch: EventPatch,
        if_match: &IfMatch,
    ) -> Result<Answer, Refusal> {
        retry_stale(|| async {
            let OwnedEvent { event: seen, agent } = self.owned_event(actor, path).await?;
            if_match.check(seen.version)?;
            let missing = || Refusal::missing(Missing::Event, path.id);
            let calendar = self.store.find_calendar(actor.org(), seen.calendar).await?.ok_or_else(missing)?;
            let now = self.now();
            let event = seen.patched(patch.clone(), calendar.zone, now)?;
            let mut changes = ChangeSet::new(actor.org());
            changes.calendars.push(Change::UpdateEvent { event: event.clone(), seen: seen.version });
            let (id, version) = (event.id, event.version);
            let resource = kalends_wire::Event::from(event);
            changes.messages.push(self.message(actor.org(), EventType::EventUpdated, &resource, version, now));
            let answer = shown(actor, &resource.with_external_sync(ExternalSync::NotConfigured), Some(version));
            self.commit_for(actor, agent, id.to_string(), changes, answer).await
        })
        .await
    }

    /// Deletes an event.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::ReadOnly`], [`Refusal::Stale`].
    pub async fn delete_event(
        &self,
        actor: &Actor,
        path: EventPath<'_>,
        if_match: &IfMatch,
    ) -> Result<Answer, Refusal> {
        retry_stale(|| async {
            let OwnedEvent { event: seen, agent } = self.owned_event(actor, path).await?;
            if_match.check(seen.version)?;
            let now = self.now();
            let event = seen.deleted(now)?;
            let mut changes = ChangeSet::new(actor.org());
            changes.calendars.push(Change::UpdateEvent { event: event.clone(), seen: seen.version });
            let (id, version) = (event.id, event.version);
            let resource = kalends_wire::Event::from(event);
            changes.messages.push(self.message(actor.org(), EventType::EventDeleted, &resource, version, now));
            self.commit_for(actor, agent, id.to_string(), changes, nothing(actor)).await
        })
        .await
    }
}
