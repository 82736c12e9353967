//! Reading holds.

use async_trait::async_trait;
use kalends_calendars::{
    EventStatus,
    ports::{CalendarHolds, Holds, OwnedEvent},
};
use kalends_kernel::{CalendarId, HoldSetId, OrgId, StoreError};
use kalends_time::Span;

use super::MemoryStore;

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

    async fn events_of_hold_set(&self, org: OrgId, set: HoldSetId) -> Result<Vec<OwnedEvent>, StoreError> {
        let state = self.state();
        let of_it = state.visible_events(org).filter(|(event, _)| event.hold_set == Some(set));
        Ok(of_it.map(|(event, on)| OwnedEvent { event: event.clone(), agent: on.agent }).collect())
    }
}
