//! Reading what blocks time.

use async_trait::async_trait;
use kalends_availability::{Block, Rules};
use kalends_calendars::{
    AvailabilityRules, Calendar,
    ports::{BusySource, BusyTimes, CalendarBlocks, CalendarBusy, RulesOfCalendars},
};
use kalends_kernel::{AgentId, CalendarId, OrgId, Span, StoreError};

use super::{MemoryStore, state::State};

#[async_trait]
impl BusyTimes for MemoryStore {
    async fn sources_of_agents(&self, org: OrgId, agents: &[AgentId]) -> Result<Vec<BusySource>, StoreError> {
        let state = self.state();
        let asked = |calendar: &&Calendar| calendar.agent.is_some_and(|agent| agents.contains(&agent));
        Ok(state.calendars_in_sight(org).filter(asked).map(source).collect())
    }

    async fn source_of_calendar(&self, org: OrgId, calendar: CalendarId) -> Result<Option<BusySource>, StoreError> {
        Ok(self.state().calendar(org, calendar).map(source))
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
            .events_in_sight(org)
            .filter(|(_, on)| on.id == calendar.id)
            .filter_map(|(event, _)| event.busy())
            .filter(|span| span.overlaps(window))
            .collect();
        spans.sort();
        let repeats =
            state.events_in_sight(org).any(|(event, on)| on.id == calendar.id && event.recurrence().is_some());
        Ok(Some(CalendarBusy { revision: calendar.revision, rules: state.rules_of(calendar), spans, repeats }))
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
            .events_in_sight(org)
            .filter(|(event, on)| on.id == calendar.id && event.busy().is_some_and(|span| span.overlaps(window)))
            .map(|(event, _)| event.block())
            .collect();
        blocks.sort_by_key(|block| (block.span, block.kind));
        blocks.truncate(limit.try_into().unwrap_or(usize::MAX));
        Ok(Some(CalendarBlocks { rules: state.rules_of(calendar), blocks }))
    }
}

#[async_trait]
impl RulesOfCalendars for MemoryStore {
    async fn find_rules(&self, org: OrgId, calendar: CalendarId) -> Result<Option<AvailabilityRules>, StoreError> {
        let state = self.state();
        let in_sight = state.calendar(org, calendar);
        Ok(in_sight.and_then(|calendar| state.rules.get(&(org, calendar.id)).cloned()))
    }
}

impl State {
    fn rules_of(&self, calendar: &Calendar) -> Option<Rules> {
        self.rules.get(&(calendar.org, calendar.id)).map(|row| row.rules.clone())
    }
}

fn source(calendar: &Calendar) -> BusySource {
    BusySource { agent: calendar.agent, calendar: calendar.id, revision: calendar.revision }
}
