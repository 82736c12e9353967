//! Reading changes.

use async_trait::async_trait;
use kalends_calendars::{
    CHANGED_SINCE_MAX, Changed, ChangedSince, ChangesRead, ChangesSince, Event, EventStatus, Position,
    ports::ChangesOfCalendars,
};
use kalends_kernel::{CalendarId, OrgId, Revision, StoreError};
use kalends_time::{Span, Timestamp};

use super::{
    MemoryStore,
    state::{ReservationRow, State, weight, within_bytes},
};

#[async_trait]
impl ChangesOfCalendars for MemoryStore {
    async fn changes(
        &self,
        org: OrgId,
        calendar: CalendarId,
        since: ChangesSince,
        limit: u32,
    ) -> Result<Option<ChangesRead>, StoreError> {
        let state = self.state();
        let Some(calendar) = state.calendar(org, calendar) else { return Ok(None) };
        let mut found = state.written_on(org, calendar.id);
        found.retain(|(position, event)| {
            *position > since.after && (event.deleted_at.is_none() || position.revision > since.deleted_after)
        });
        found.truncate(limit.try_into().unwrap_or(usize::MAX));
        let given = found.len();
        let found = within_bytes(found, |(_, event)| weight(event));
        let more = found.len() < given;
        let changes = found.into_iter().map(|(Position { revision, id }, event)| {
            let changed = match event.deleted_at {
                None => Changed::Written(Box::new(event.clone())),
                Some(_) => Changed::Deleted { id, occurrence: event.occurrence() },
            };
            (revision, changed)
        });
        let moved = state.moved.iter().filter(|((by, from, _), _)| (*by, *from) == (org, calendar.id));
        let moved =
            moved.map(|((.., id), row)| (row.revision, Changed::Deleted { id: *id, occurrence: row.occurrence }));
        let moved = moved.filter(|(revision, changed)| {
            Position { revision: *revision, id: changed.id() } > since.after && *revision > since.deleted_after
        });
        let (moved, changes) = (moved.collect(), changes.collect());
        let read = ChangesRead { database: state.identity.0, revision: calendar.revision, changes, more };
        Ok(Some(read.with_moved(moved, limit)))
    }

    async fn purge_moved(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        self.write(|state| {
            let old: Vec<_> = state.moved.iter().filter(|(_, row)| row.at <= before).map(|(key, _)| *key).collect();
            let purged = old.iter().take(limit as usize).filter_map(|key| state.moved.remove(key));
            Ok(purged.count() as u64)
        })
    }

    async fn changed_since(
        &self,
        org: OrgId,
        calendar: CalendarId,
        since: Revision,
        window: Span,
    ) -> Result<Option<ChangedSince>, StoreError> {
        let state = self.state();
        let Some(calendar) = state.calendar(org, calendar) else { return Ok(None) };
        let mut found = state.written_on(org, calendar.id);
        found.retain(|(position, event)| written_since(*position, event, since, window));
        found.truncate(CHANGED_SINCE_MAX.try_into().unwrap_or(usize::MAX));
        let ruled_at = state.rules_revisions.get(&(org, calendar.id)).copied();
        Ok(Some(ChangedSince {
            revision: calendar.revision,
            rules_changed: ruled_at.is_some_and(|at| at > since),
            events: found.into_iter().map(|(_, event)| event.clone()).collect(),
        }))
    }
}

impl State {
    /// Whether an event or a reservation in the window was written after the revision. Events that are deleted or
    /// cancelled do not count.
    pub(super) fn reached(&self, org: OrgId, calendar: CalendarId, since: Revision, window: Span) -> bool {
        let written = self.written_on(org, calendar);
        let reserved = |row: &ReservationRow| {
            (row.org, row.calendar) == (org, calendar) && row.revision > since && row.reservation.span.overlaps(window)
        };
        self.reservations.iter().any(reserved)
            || written.into_iter().any(|(position, event)| written_since(position, event, since, window))
    }

    /// Every event of the calendar, including deleted ones, in the order of the last change.
    fn written_on(&self, org: OrgId, calendar: CalendarId) -> Vec<(Position, &Event)> {
        let of_it = self.events.values().filter(|event| event.org == org && event.calendar == calendar);
        let mut found: Vec<(Position, &Event)> = of_it
            .map(|event| {
                let revision = self.event_revisions.get(&(org, event.id)).copied().unwrap_or(Revision(0));
                (Position { revision, id: event.id }, event)
            })
            .collect();
        found.sort_by_key(|(position, _)| *position);
        found
    }
}

/// Whether the event was written after the revision, is neither deleted nor cancelled, and may take place in the
/// window.
fn written_since(position: Position, event: &Event, since: Revision, window: Span) -> bool {
    position.revision > since
        && event.deleted_at.is_none()
        && event.status != EventStatus::Cancelled
        && ChangedSince::reaches_into(event, window)
}
