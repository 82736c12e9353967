//! Reading holds.

use std::collections::BTreeMap;

use async_trait::async_trait;
use kalends_calendars::{
    Calendar, Event, EventStatus, HoldSet, Publication,
    ports::{CalendarHolds, HoldSetFilter, Holds, LiveHold, OwnedEvent, StatusAt},
};
use kalends_kernel::{AgentId, CalendarId, HoldSetId, Listed, OrgId, Page, StoreError};
use kalends_time::{Span, Timestamp};

use super::{
    MemoryStore,
    state::{has_status, page_of, weight, within_bytes},
};

#[async_trait]
impl Holds for MemoryStore {
    async fn holds_within(
        &self,
        org: OrgId,
        calendar: CalendarId,
        window: Span,
    ) -> Result<Option<CalendarHolds>, StoreError> {
        let state = self.state();
        let Some(calendar) = state.calendar(org, calendar) else { return Ok(None) };
        let holds = state.visible_events(org).filter(|(event, on)| {
            on.id == calendar.id && event.status == EventStatus::Hold && event.times.span.overlaps(window)
        });
        let holds = holds.map(|(event, _)| event.clone()).collect();
        let reserved = state
            .reservations
            .iter()
            .filter(|row| (row.org, row.calendar) == (org, calendar.id) && row.reservation.span.overlaps(window));
        let reserved = reserved.map(|row| row.reservation).collect();
        Ok(Some(CalendarHolds { revision: calendar.revision, holds, reserved }))
    }

    async fn live_holds(&self, org: OrgId, now: Timestamp, limit: u32) -> Result<Vec<LiveHold>, StoreError> {
        let state = self.state();
        let held = StatusAt { status: EventStatus::Hold, now };
        let mut live: Vec<_> = state.visible_events(org).filter(|(event, _)| has_status(event, held)).collect();
        live.sort_by_key(|(event, _)| (event.hold.map(|hold| hold.expires_at), event.id));
        live.truncate(limit as usize);
        let shown = live.into_iter().map(|(event, on)| LiveHold {
            event: event.clone(),
            calendar_name: on.name.clone(),
            zone: on.zone,
        });
        Ok(shown.collect())
    }

    async fn events_of_hold_set(&self, org: OrgId, set: HoldSetId) -> Result<Vec<OwnedEvent>, StoreError> {
        let state = self.state();
        let of_it = state.visible_events(org).filter(|(event, _)| event.hold_set == Some(set));
        let owned = |(event, on): (&Event, &Calendar)| OwnedEvent {
            event: event.clone(),
            agent: on.agent,
            publication: on.into(),
        };
        Ok(of_it.map(owned).collect())
    }

    async fn placer_of_hold_set(&self, org: OrgId, set: HoldSetId) -> Result<Option<AgentId>, StoreError> {
        let state = self.state();
        let is_there = state.events.values().any(|event| event.org == org && event.hold_set == Some(set));
        Ok(state.placed.get(&(org, set)).copied().filter(|_| is_there))
    }

    async fn count_placed_holds(&self, org: OrgId, agent: AgentId, now: Timestamp) -> Result<u64, StoreError> {
        Ok(self.state().placed_holds(org, agent, now))
    }

    async fn list_hold_sets(
        &self,
        org: OrgId,
        filter: HoldSetFilter,
        page: Page,
    ) -> Result<Listed<HoldSet>, StoreError> {
        let state = self.state();
        let mut sets: BTreeMap<HoldSetId, Vec<(&Event, &Calendar)>> = BTreeMap::new();
        for (event, on) in state.visible_events(org) {
            if let Some(set) = event.hold_set {
                sets.entry(set).or_default().push((event, on));
            }
        }
        sets.retain(|set, found| {
            let placed = |agent| filter.or_placed && state.placed.get(&(org, *set)) == Some(&agent);
            let owned = |agent| placed(agent) || found.iter().all(|(_, on)| on.agent == Some(agent));
            filter.agent.is_none_or(owned)
                && filter.status.is_none_or(|at| found.iter().any(|(event, _)| has_status(event, at)))
        });
        let ids: Vec<HoldSetId> = sets.keys().copied().collect();
        let Listed { data, total } = page_of(ids.iter(), |id| *id, page);
        let events = data.iter().filter_map(|id| sets.get(id)).flatten();
        let events: Vec<(Event, Publication)> = events.map(|(event, on)| (Event::clone(event), (*on).into())).collect();
        let count = events.len();
        let events = within_bytes(events, |(event, _)| weight(event));
        let complete = events.len() == count;
        Ok(Listed { data: HoldSet::group(events, complete), total })
    }
}
