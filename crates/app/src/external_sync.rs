//! The state of an event's copy on a connected human calendar, as answers show it.

use std::collections::BTreeMap;

use kalends_bridge::{CopyContent, CopyKey, external_sync, is_published};
use kalends_calendars::{Event, ExternalSync, Publication};
use kalends_kernel::{CalendarId, StoreError};

use crate::App;

/// How the events of several calendars are published. Calendars that are not visible are not among them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Publications(BTreeMap<CalendarId, Publication>);

impl Publications {
    /// Those of calendars that were read.
    pub(crate) fn of(calendars: impl Iterator<Item = (CalendarId, Publication)>) -> Self {
        Self(calendars.collect())
    }

    /// That of one calendar.
    pub(crate) fn get(&self, calendar: CalendarId) -> Option<Publication> {
        self.0.get(&calendar).copied()
    }
}

impl App {
    /// The state of the copy of an event after a change that shows it as `event`. Nothing is read unless the event is
    /// published.
    pub(crate) async fn sync_of(
        &self,
        publication: Option<Publication>,
        event: &Event,
    ) -> Result<ExternalSync, StoreError> {
        let Some(Publication { policy: Some(policy), zone }) = publication else {
            return Ok(ExternalSync::NotConfigured);
        };
        let digest = CopyContent::of(event, zone).digest();
        if !is_published(policy, event) {
            return Ok(external_sync(Some(policy), event, None, false, digest));
        }
        let key = CopyKey::of(event);
        let copies = self.parts.store.copies_of_event(event.org, event.calendar, key.event).await?;
        let copy = copies.iter().find(|copy| copy.key == key);
        let failing = self.is_publishing_failing(event).await?;
        Ok(external_sync(Some(policy), event, copy, failing, digest))
    }

    /// [`Self::sync_of`], for new events of one calendar, of which there are no copies yet: in at most one statement.
    pub(crate) async fn sync_of_new(
        &self,
        publication: Publication,
        events: &[Event],
    ) -> Result<Vec<ExternalSync>, StoreError> {
        if publication.policy.is_none() {
            return Ok(vec![ExternalSync::NotConfigured; events.len()]);
        }
        let is_waiting = |event: &&Event| publication.policy.is_some_and(|policy| is_published(policy, event));
        let waiting = events.iter().find(is_waiting);
        let failing = match waiting {
            Some(event) => self.is_publishing_failing(event).await?,
            None => false,
        };
        let state = |event: &Event| {
            let digest = CopyContent::of(event, publication.zone).digest();
            external_sync(publication.policy, event, None, failing, digest)
        };
        Ok(events.iter().map(state).collect())
    }

    /// Whether the last attempt to publish the calendar of an event failed.
    async fn is_publishing_failing(&self, event: &Event) -> Result<bool, StoreError> {
        let destination = self.parts.store.find_destination(event.org, event.calendar).await?;
        Ok(destination.is_some_and(|destination| destination.state.failures > 0))
    }

    /// Wakes the publishing of this process after an event was changed, if its calendar has a destination.
    pub(crate) fn nudge_publishing(&self, publication: Option<Publication>) {
        if publication.is_some_and(|publication| publication.policy.is_some()) {
            self.nudges.publish.notify_one();
        }
    }
}
