//! Reading busy times.

use std::collections::BTreeSet;

use async_trait::async_trait;
use kalends_availability::Rules;
use kalends_calendars::Block;
use kalends_calendars::{
    AvailabilityRules, Calendar, Event, EventStatus,
    ports::{BusySource, BusyTimes, CalendarBlocks, CalendarBusy, LivingAgent, RulesOfCalendars},
};
use kalends_kernel::{AgentId, CalendarId, OrgId, StoreError};
use kalends_time::Span;

use super::{MemoryStore, state::State};

#[async_trait]
impl BusyTimes for MemoryStore {
    async fn sources_of_agents(&self, org: OrgId, agents: &[AgentId]) -> Result<Vec<BusySource>, StoreError> {
        let state = self.state();
        let is_queried = |calendar: &&Calendar| calendar.agent.is_some_and(|agent| agents.contains(&agent));
        Ok(state.visible_calendars(org).filter(is_queried).map(|calendar| state.source(calendar)).collect())
    }

    async fn living_agents(&self, org: OrgId, agents: &[AgentId]) -> Result<Vec<LivingAgent>, StoreError> {
        let state = self.state();
        let queried: BTreeSet<AgentId> = agents.iter().copied().collect();
        let living = queried.into_iter().filter(|agent| state.agent_lives(org, *agent));
        Ok(living.map(|id| LivingAgent { id, granted: state.granted(org, Some(id)) }).collect())
    }

    async fn source_of_calendar(&self, org: OrgId, calendar: CalendarId) -> Result<Option<BusySource>, StoreError> {
        let state = self.state();
        Ok(state.calendar(org, calendar).map(|calendar| state.source(calendar)))
    }

    async fn sources_of_calendars(&self, org: OrgId, calendars: &[CalendarId]) -> Result<Vec<BusySource>, StoreError> {
        let state = self.state();
        let queried: BTreeSet<CalendarId> = calendars.iter().copied().collect();
        let visible = queried.into_iter().filter_map(|calendar| state.calendar(org, calendar));
        Ok(visible.map(|calendar| state.source(calendar)).collect())
    }

    async fn blocking_spans(
        &self,
        org: OrgId,
        calendar: CalendarId,
        window: Span,
    ) -> Result<Option<CalendarBusy>, StoreError> {
        let state = self.state();
        let Some(calendar) = state.calendar(org, calendar) else { return Ok(None) };
        let mut spans: Vec<Span> = state
            .visible_events(org)
            .filter(|(_, on)| on.id == calendar.id)
            .filter_map(|(event, _)| event.busy())
            .filter(|span| span.overlaps(window))
            .collect();
        spans.sort();
        let repeats = state.repeats(calendar);
        let (revision, rules, held) = (calendar.revision, state.rules_of(calendar), state.holds(calendar));
        Ok(Some(CalendarBusy { revision, rules, spans, repeats, held }))
    }

    async fn blocks(
        &self,
        org: OrgId,
        calendar: CalendarId,
        window: Span,
        limit: u32,
    ) -> Result<Option<CalendarBlocks>, StoreError> {
        let state = self.state();
        let Some(calendar) = state.calendar(org, calendar) else { return Ok(None) };
        let mut blocks: Vec<Block> = state
            .visible_events(org)
            .filter(|(event, on)| on.id == calendar.id && event.busy().is_some_and(|span| span.overlaps(window)))
            .map(|(event, _)| event.block())
            .collect();
        blocks.sort_by_key(|block| (block.span, block.kind));
        blocks.truncate(limit.try_into().unwrap_or(usize::MAX));
        let (repeats, held) = (state.repeats(calendar), state.holds(calendar));
        Ok(Some(CalendarBlocks {
            source: state.source(calendar),
            rules: state.rules_of(calendar),
            blocks,
            repeats,
            held,
        }))
    }
}

#[async_trait]
impl RulesOfCalendars for MemoryStore {
    async fn find_rules(&self, org: OrgId, calendar: CalendarId) -> Result<Option<AvailabilityRules>, StoreError> {
        let state = self.state();
        let visible = state.calendar(org, calendar);
        Ok(visible.and_then(|calendar| state.rules.get(&(org, calendar.id)).cloned()))
    }

    async fn rules_of_calendars(
        &self,
        org: OrgId,
        calendars: &[CalendarId],
    ) -> Result<Vec<AvailabilityRules>, StoreError> {
        let state = self.state();
        let queried: BTreeSet<CalendarId> = calendars.iter().copied().collect();
        let visible = queried.into_iter().filter_map(|calendar| state.calendar(org, calendar));
        Ok(visible.filter_map(|calendar| state.rules.get(&(org, calendar.id)).cloned()).collect())
    }
}

impl State {
    /// The calendar as a source of busy times.
    pub(super) fn source(&self, calendar: &Calendar) -> BusySource {
        let Calendar { agent, id, revision, .. } = *calendar;
        BusySource { agent, calendar: id, revision, granted: self.granted(calendar.org, agent) }
    }

    fn granted(&self, org: OrgId, agent: Option<AgentId>) -> bool {
        self.grants.values().any(|grant| grant.org == org && grant.covers(agent))
    }

    fn rules_of(&self, calendar: &Calendar) -> Option<Rules> {
        self.rules.get(&(calendar.org, calendar.id)).map(|row| row.rules.clone())
    }

    fn events_on(&self, calendar: &Calendar) -> impl Iterator<Item = &Event> {
        self.visible_events(calendar.org).filter(|(_, on)| on.id == calendar.id).map(|(event, _)| event)
    }

    fn repeats(&self, calendar: &Calendar) -> bool {
        self.events_on(calendar).any(|event| event.recurrence().is_some())
    }

    fn holds(&self, calendar: &Calendar) -> bool {
        self.events_on(calendar).any(|event| event.status == EventStatus::Hold)
            || self.reservations.iter().any(|row| (row.org, row.calendar) == (calendar.org, calendar.id))
    }
}
