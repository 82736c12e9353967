//! Reading feeds.

use std::sync::atomic::Ordering;

use async_trait::async_trait;
use kalends_calendars::{Calendar, Event, EventSource, EventStatus, ports::Feeds};
use kalends_kernel::{CalendarId, OrgId, Revision, StoreError};

use super::MemoryStore;

#[async_trait]
impl Feeds for MemoryStore {
    async fn calendar_of_feed(&self, token: &str) -> Result<Option<Calendar>, StoreError> {
        let state = self.state();
        let found = state.calendars.values().find(|calendar| calendar.feed_token.reveal() == token);
        let found = found.filter(|calendar| state.organizations.contains_key(&calendar.org));
        Ok(found.and_then(|calendar| state.calendar(calendar.org, calendar.id)).cloned())
    }

    async fn read_feed(
        &self,
        org: OrgId,
        calendar: CalendarId,
        each: &mut (dyn FnMut(Event) + Send),
    ) -> Result<Option<Revision>, StoreError> {
        self.feeds_read.fetch_add(1, Ordering::Relaxed);
        let state = self.state();
        let Some(found) = state.calendar(org, calendar) else { return Ok(None) };
        let mut events: Vec<&Event> = state
            .visible_events(org)
            .map(|(event, _)| event)
            .filter(|event| event.calendar == calendar && event.source == EventSource::Internal)
            .filter(|event| matches!(event.status, EventStatus::Confirmed | EventStatus::Tentative))
            .collect();
        events.sort_unstable_by_key(|event| (event.times.span.start(), event.id));
        events.into_iter().cloned().for_each(each);
        Ok(Some(found.revision))
    }
}
