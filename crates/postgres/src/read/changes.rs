//! Reads changes on visible calendars.

use std::collections::BTreeMap;

use async_trait::async_trait;
use kalends_calendars::ports::ChangesOfCalendars;
use kalends_calendars::{
    CHANGED_SINCE_MAX, Changed, ChangedSince, ChangesRead, ChangesSince, DatabaseId, Occurrence, Position,
};
use kalends_kernel::{CalendarId, EventId, OrgId, PAGE_BYTES_MAX, Revision, StoreError};
use kalends_time::{Span, Timestamp};
use kalends_warm_pool::{RowsWithin, rows_within, sealed_weight};
use sqlx::Connection as _;
use uuid::Uuid;

use crate::PostgresStore;
use crate::error::store_error;
use crate::retry::retried;
use crate::rows::{EventRow, event_row};

#[async_trait]
impl ChangesOfCalendars for PostgresStore {
    async fn changes(
        &self,
        org: OrgId,
        calendar: CalendarId,
        since: ChangesSince,
        limit: u32,
    ) -> Result<Option<ChangesRead>, StoreError> {
        let seen = sqlx::query!(
            r#"SELECT c.revision, i.identity,
                 EXISTS (SELECT 1 FROM moved_events m WHERE m.org_id = c.org_id AND m.calendar_id = c.id) AS "moved!"
             FROM calendars c
             CROSS JOIN database_identity i
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE c.org_id = $1 AND c.id = $2 AND c.deleted_at IS NULL
                 AND (c.agent_id IS NULL OR a.status <> 'decommissioned') AND i.one = 1"#,
            org.uuid(),
            calendar.uuid(),
        );
        let Some(seen) = seen.fetch_optional(&self.connections).await.map_err(store_error)? else { return Ok(None) };
        let (database, revision) = (DatabaseId(seen.identity.into_bytes()), Revision(seen.revision));
        let (mut changes, mut more) = (Vec::new(), false);
        // Usually nothing has changed, and a mirror needs no second statement. Whatever is written in between has a
        // higher revision.
        if since.after < Position::after(revision) {
            let records = sqlx::query!(
                "SELECT id, calendar_id, content, start_at, end_at, all_day, status, source, reminders, version,
                     created_at, updated_at, deleted_at, recurrence, series_id, original_start,
                     hold_expires_at, hold_priority, hold_scope, hold_set_id, transparent, revision
                 FROM events
                 WHERE org_id = $1 AND calendar_id = $2 AND (revision, id) > ($3, $4) AND revision <= $5
                     AND (deleted_at IS NULL OR revision > $6)
                 ORDER BY revision, id
                 LIMIT $7",
                org.uuid(),
                calendar.uuid(),
                since.after.revision.0,
                since.after.id.uuid(),
                revision.0,
                since.deleted_after.0,
                i64::from(limit),
            );
            let rows =
                rows_within(records.fetch(&self.connections), |record| sealed_weight(&record.content), PAGE_BYTES_MAX);
            let RowsWithin { rows, fetched } = rows.await.map_err(store_error)?;
            changes.reserve(rows.len());
            more = fetched > rows.len();
            for record in rows {
                let at = Revision(record.revision);
                let changed = if record.deleted_at.is_some() {
                    deleted(record.id, record.series_id, record.original_start)
                } else {
                    Changed::Written(Box::new(event_row!(record).open(org, &*self.cipher)?))
                };
                changes.push((at, changed));
            }
        }
        let read = ChangesRead { database, revision, changes, more };
        let may_have_moved = seen.moved && since.after < Position::after(revision) && since.deleted_after < revision;
        let moved = if may_have_moved { self.moved(org, calendar, revision, since, limit).await? } else { Vec::new() };
        Ok(Some(read.with_moved(moved, limit)))
    }

    async fn purge_moved(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let found = sqlx::query!(
            "SELECT org_id, calendar_id, event_id FROM moved_events WHERE moved_at <= $1 LIMIT $2",
            before.as_micros(),
            i64::from(limit),
        );
        let mut of: BTreeMap<Uuid, (Vec<Uuid>, Vec<Uuid>)> = BTreeMap::new();
        for row in found.fetch_all(&self.connections).await.map_err(store_error)? {
            let (calendars, events) = of.entry(row.org_id).or_default();
            calendars.push(row.calendar_id);
            events.push(row.event_id);
        }
        let mut purged = 0;
        // Each statement locks rows of one organization, and skips those that others hold.
        for (org_id, (calendars, events)) in of {
            let deleted = retried(|| {
                sqlx::query!(
                    "DELETE FROM moved_events WHERE (org_id, calendar_id, event_id) IN (
                         SELECT m.org_id, m.calendar_id, m.event_id
                         FROM unnest($2::uuid[], $3::uuid[]) AS row (calendar_id, event_id)
                         JOIN moved_events m
                             ON m.org_id = $1 AND m.calendar_id = row.calendar_id AND m.event_id = row.event_id
                         WHERE m.moved_at <= $4
                         ORDER BY m.calendar_id, m.event_id FOR UPDATE OF m SKIP LOCKED
                     )",
                    org_id,
                    &calendars,
                    &events,
                    before.as_micros(),
                )
                .execute(&self.connections)
            });
            purged += deleted.await.map_err(store_error)?.rows_affected();
        }
        Ok(purged)
    }

    async fn changed_since(
        &self,
        org: OrgId,
        calendar: CalendarId,
        since: Revision,
        window: Span,
    ) -> Result<Option<ChangedSince>, StoreError> {
        let mut connection = self.connections.acquire().await.map_err(store_error)?;
        let mut snapshot =
            connection.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await.map_err(store_error)?;
        let seen = sqlx::query!(
            "SELECT c.revision, c.rules_revision
             FROM calendars c
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE c.org_id = $1 AND c.id = $2 AND c.deleted_at IS NULL
                 AND (c.agent_id IS NULL OR a.status <> 'decommissioned')",
            org.uuid(),
            calendar.uuid(),
        );
        let seen = seen.fetch_optional(&mut *snapshot).await.map_err(store_error)?;
        let rows = match &seen {
            None => Vec::new(),
            Some(_) => sqlx::query_as!(
                EventRow,
                "SELECT id, calendar_id, content, start_at, end_at, all_day, status, source, reminders, version,
                     created_at, updated_at, recurrence, series_id, original_start,
                     hold_expires_at, hold_priority, hold_scope, hold_set_id, transparent
                 FROM events
                 WHERE org_id = $1 AND calendar_id = $2 AND revision > $3 AND deleted_at IS NULL
                     AND status <> 'cancelled' AND start_at < $5 AND coalesce(reaches, end_at) > $4
                 ORDER BY revision, id
                 LIMIT $6",
                org.uuid(),
                calendar.uuid(),
                since.0,
                window.start().as_micros(),
                window.end().as_micros(),
                i64::from(CHANGED_SINCE_MAX),
            )
            .fetch_all(&mut *snapshot)
            .await
            .map_err(store_error)?,
        };
        snapshot.rollback().await.map_err(store_error)?;
        connection.keep();
        let Some(seen) = seen else { return Ok(None) };
        let events = rows.into_iter().map(|row| row.open(org, &*self.cipher));
        Ok(Some(ChangedSince {
            revision: Revision(seen.revision),
            rules_changed: seen.rules_revision > since.0,
            events: events.collect::<Result<_, _>>()?,
        }))
    }
}

impl PostgresStore {
    /// The first events that left the calendar, in order.
    async fn moved(
        &self,
        org: OrgId,
        calendar: CalendarId,
        revision: Revision,
        since: ChangesSince,
        limit: u32,
    ) -> Result<Vec<(Revision, Changed)>, StoreError> {
        let rows = sqlx::query!(
            "SELECT event_id, series_id, original_start, revision FROM moved_events
             WHERE org_id = $1 AND calendar_id = $2 AND (revision, event_id) > ($3, $4) AND revision <= $5
                 AND revision > $6
             ORDER BY revision, event_id
             LIMIT $7",
            org.uuid(),
            calendar.uuid(),
            since.after.revision.0,
            since.after.id.uuid(),
            revision.0,
            since.deleted_after.0,
            i64::from(limit),
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        let moved = rows
            .into_iter()
            .map(|row| (Revision(row.revision), deleted(row.event_id, row.series_id, row.original_start)));
        Ok(moved.collect())
    }
}

/// An event that is gone, from the columns of its row.
fn deleted(id: Uuid, series: Option<Uuid>, original_start: Option<i64>) -> Changed {
    let occurrence = series
        .zip(original_start)
        .map(|(series, start)| Occurrence { series: EventId::from_uuid(series), start: Timestamp::from_micros(start) });
    Changed::Deleted { id: EventId::from_uuid(id), occurrence }
}
