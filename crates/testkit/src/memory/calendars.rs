//! Reading agents, calendars and events.

use async_trait::async_trait;
use kalends_calendars::{
    Agent, Calendar, ContextEvents, Event,
    ports::{
        AgentFilter, Agents, CalendarEntry, CalendarFilter, Calendars, EventFilter, EventScope, Events, MetadataIndex,
        OwnedEvent,
    },
};
use kalends_kernel::{AgentId, CalendarId, EventId, Listed, OrgId, Page, StoreError};
use kalends_time::Timestamp;

use super::{
    MemoryStore,
    context::events_around,
    instances::instances_near,
    state::{has_status, page_of, weight, within_bytes},
};

#[async_trait]
impl Agents for MemoryStore {
    async fn find_agent(&self, org: OrgId, id: AgentId) -> Result<Option<Agent>, StoreError> {
        Ok(self.state().agents.get(&(org, id)).cloned())
    }

    async fn list_agents(&self, org: OrgId, filter: AgentFilter, page: Page) -> Result<Listed<Agent>, StoreError> {
        let state = self.state();
        let matching = state.agents.values().filter(|agent| {
            agent.org == org
                && filter.kind.is_none_or(|kind| agent.kind == kind)
                && filter.status.is_none_or(|status| agent.status == status)
        });
        Ok(page_of(matching, |agent| (agent.created_at, agent.id), page))
    }
}

#[async_trait]
impl Calendars for MemoryStore {
    async fn find_calendar(&self, org: OrgId, id: CalendarId) -> Result<Option<Calendar>, StoreError> {
        Ok(self.state().calendar(org, id).cloned())
    }

    async fn list_calendars(
        &self,
        org: OrgId,
        filter: CalendarFilter,
        page: Page,
    ) -> Result<Listed<Calendar>, StoreError> {
        let state = self.state();
        let matching = state.visible_calendars(org).filter(|calendar| match filter {
            CalendarFilter::OfAgent(agent) => calendar.agent == Some(agent),
            CalendarFilter::OfAgentAndShared(agent) => calendar.agent.is_none_or(|owner| owner == agent),
            CalendarFilter::OfAgents => calendar.agent.is_some(),
            CalendarFilter::All => true,
        });
        Ok(page_of(matching, |calendar| (calendar.created_at, calendar.id), page))
    }

    async fn calendar_entries(&self, org: OrgId, page: Page) -> Result<Listed<CalendarEntry>, StoreError> {
        let listed = self.list_calendars(org, CalendarFilter::All, page).await?;
        let state = self.state();
        Ok(listed.map(|calendar| {
            let agent = calendar.agent.and_then(|agent| state.agents.get(&(org, agent)));
            CalendarEntry {
                id: calendar.id,
                name: calendar.name,
                agent: agent.map(|agent| (agent.id, agent.name.clone())),
                zone: calendar.zone,
                conflicts: calendar.conflicts,
            }
        }))
    }

    async fn calendars_after(
        &self,
        org: OrgId,
        after: Option<(Timestamp, CalendarId)>,
        limit: u32,
    ) -> Result<Vec<Calendar>, StoreError> {
        let state = self.state();
        let place = |calendar: &Calendar| (calendar.created_at, calendar.id);
        let behind = state.visible_calendars(org).filter(|calendar| after.is_none_or(|after| place(calendar) > after));
        Ok(page_of(behind, place, Page { limit, offset: 0 }).data)
    }
}

/// Every event is found by its metadata here. An index only seems to lack entries.
#[async_trait]
impl MetadataIndex for MemoryStore {
    async fn is_metadata_indexed(&self, org: OrgId) -> Result<bool, StoreError> {
        Ok(!self.state().not_indexed.contains(&org))
    }

    async fn index_metadata(&self, _limit: u32) -> Result<bool, StoreError> {
        Ok(self.write(|state| state.not_indexed.pop_first().is_none()))
    }
}

#[async_trait]
impl Events for MemoryStore {
    async fn find_event(&self, org: OrgId, id: EventId) -> Result<Option<OwnedEvent>, StoreError> {
        let state = self.state();
        let found = state.visible_events(org).find(|(event, _)| event.id == id && event.occurrence().is_none());
        Ok(found.map(|(event, calendar)| OwnedEvent {
            event: event.clone(),
            agent: calendar.agent,
            publication: calendar.into(),
        }))
    }

    async fn events_of(&self, org: OrgId, calendars: &[CalendarId], ids: &[EventId]) -> Result<Vec<Event>, StoreError> {
        let state = self.state();
        let of = state.visible_events(org).map(|(event, _)| event);
        Ok(of.filter(|event| calendars.contains(&event.calendar) && ids.contains(&event.id)).cloned().collect())
    }

    async fn list_events(
        &self,
        org: OrgId,
        scope: EventScope,
        filter: EventFilter,
        page: Page,
    ) -> Result<Listed<Event>, StoreError> {
        let state = self.state();
        let inside = |calendar: &Calendar| match scope {
            EventScope::Calendar(id) => calendar.id == id,
            EventScope::Agent(agent) => calendar.agent == Some(agent),
        };
        let matching = state.visible_events(org).filter_map(|(event, calendar)| {
            let start = event.times.span.start();
            let matches = inside(calendar)
                && event.occurrence().is_none()
                && filter.start_after.is_none_or(|after| start >= after)
                && filter.start_before.is_none_or(|before| start < before)
                && filter.status.is_none_or(|at| has_status(event, at))
                && filter.source.is_none_or(|source| event.source == source)
                && filter.metadata.matches(&event.metadata);
            matches.then_some(event)
        });
        let listed = page_of(matching, |event| (event.times.span.start(), event.id), page);
        Ok(Listed { data: within_bytes(listed.data, weight), ..listed })
    }

    async fn context_events(
        &self,
        org: OrgId,
        calendar: CalendarId,
        now: Timestamp,
    ) -> Result<ContextEvents, StoreError> {
        let state = self.state();
        let on_it = state.visible_events(org).filter(|(event, _)| event.calendar == calendar);
        let near: Vec<Event> = on_it.flat_map(|(event, _)| instances_near(event, now)).collect();
        Ok(events_around(near.iter(), now))
    }
}
