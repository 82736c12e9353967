//! Reading what blocks time.

use async_trait::async_trait;
use kalends_calendars::{
    Calendar,
    ports::{BusySource, BusyTimes},
};
use kalends_kernel::{AgentId, CalendarId, OrgId, Revision, Span, StoreError};

use super::MemoryStore;

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
    ) -> Result<Option<(Revision, Vec<Span>)>, StoreError> {
        let state = self.state();
        let Some(calendar) = state.calendar(org, calendar) else { return Ok(None) };
        let mut spans: Vec<Span> = state
            .events_in_sight(org)
            .filter(|(_, on)| on.id == calendar.id)
            .filter_map(|(event, _)| event.busy())
            .filter(|span| span.overlaps(window))
            .collect();
        spans.sort();
        Ok(Some((calendar.revision, spans)))
    }
}

fn source(calendar: &Calendar) -> BusySource {
    BusySource { agent: calendar.agent, calendar: calendar.id, revision: calendar.revision }
}
