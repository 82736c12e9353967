//! Changes on visible calendars.

use async_trait::async_trait;
use kalends_calendars::{
    CHANGED_SINCE_MAX, Changed, ChangedSince, ChangesRead, ChangesSince, DatabaseId, Occurrence, Position,
    ports::ChangesOfCalendars,
};
use kalends_kernel::{CalendarId, EventId, OrgId, PAGE_BYTES_MAX, Revision, StoreError};
use kalends_time::{Span, Timestamp};
use kalends_warm_pool::{RowsWithin, rows_within, sealed_weight};

use crate::{
    SqliteStore,
    error::store_error,
    rows::{EventRow, Located, event_row, row_id},
};

#[async_trait]
impl ChangesOfCalendars for SqliteStore {
    async fn changes(
        &self,
        org: OrgId,
        calendar: CalendarId,
        since: ChangesSince,
        limit: u32,
    ) -> Result<Option<ChangesRead>, StoreError> {
        let (org_id, id) = (org.uuid(), calendar.uuid());
        let found = sqlx::query!(
            r#"select c.revision, i.identity,
                exists (select 1 from moved_events m where m.org_id = c.org_id and m.calendar_id = c.id)
                    as "moved!: bool"
             from calendars c
                left join agents a on a.org_id = c.org_id and a.id = c.agent_id
                cross join database_identity i on i.one = 1
             where c.org_id = ?1 and c.id = ?2 and c.deleted_at is null
                and (c.agent_id is null or a.status <> 'decommissioned')"#,
            org_id,
            id
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?;
        let Some(found) = found else { return Ok(None) };
        let identity = Located { table: "database_identity", id: &1 };
        let database = DatabaseId(identity.uuid("identity", &found.identity)?.into_bytes());
        let revision = Revision(found.revision);
        let (mut changes, mut more) = (Vec::new(), false);
        // Usually nothing has changed, and a mirror needs no second statement. Whatever is written in between has a
        // higher revision.
        if since.after < Position::after(revision) {
            let (after, after_id) = (since.after.revision.0, since.after.id.uuid());
            let rows = sqlx::query!(
                "select id, calendar_id, content, start_at, end_at, all_day, status, source, reminders, version,
                    created_at, updated_at, recurrence, series_id, original_start,
                    hold_expires_at, hold_priority, hold_scope, hold_set_id, transparent, deleted_at, revision
                 from events
                 where org_id = ?1 and calendar_id = ?2 and (revision, id) > (?3, ?4) and revision <= ?5
                    and (deleted_at is null or revision > ?6)
                 order by revision, id limit ?7",
                org_id,
                id,
                after,
                after_id,
                revision.0,
                since.deleted_after.0,
                limit
            )
            .fetch(self.readers());
            let RowsWithin { rows, fetched } =
                rows_within(rows, |row| sealed_weight(&row.content), PAGE_BYTES_MAX).await.map_err(store_error)?;
            changes.reserve(rows.len());
            more = fetched > rows.len();
            for row in rows {
                let at = Revision(row.revision);
                if row.deleted_at.is_some() {
                    let gone = deleted("events", &row.id, row.series_id.as_deref(), row.original_start)?;
                    changes.push((at, gone));
                    continue;
                }
                let row = event_row!(row);
                changes.push((at, Changed::Written(Box::new(row.open(org, self.cipher.as_ref())?))));
            }
        }
        let read = ChangesRead { database, revision, changes, more };
        let may_have_moved = found.moved && since.after < Position::after(revision) && since.deleted_after < revision;
        let moved = if may_have_moved { self.moved(org, calendar, revision, since, limit).await? } else { Vec::new() };
        Ok(Some(read.with_moved(moved, limit)))
    }

    async fn purge_moved(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let before = before.as_micros();
        let mut writing = self.database.writer.take().await?;
        let purged = sqlx::query!(
            "delete from moved_events where (org_id, calendar_id, event_id) in (
                select org_id, calendar_id, event_id from moved_events where moved_at <= ?1 limit ?2)",
            before,
            limit
        )
        .execute(&mut writing.connection)
        .await;
        writing.done(purged).await
    }

    async fn changed_since(
        &self,
        org: OrgId,
        calendar: CalendarId,
        since: Revision,
        window: Span,
    ) -> Result<Option<ChangedSince>, StoreError> {
        let (org_id, id) = (org.uuid(), calendar.uuid());
        let (from, to) = (window.start().as_micros(), window.end().as_micros());
        let found = self
            .snapshot(async |snapshot| {
                let seen = sqlx::query!(
                    "select c.revision, c.rules_revision
                     from calendars c left join agents a on a.org_id = c.org_id and a.id = c.agent_id
                     where c.org_id = ?1 and c.id = ?2 and c.deleted_at is null
                        and (c.agent_id is null or a.status <> 'decommissioned')",
                    org_id,
                    id
                )
                .fetch_optional(&mut *snapshot)
                .await
                .map_err(store_error)?;
                let Some(seen) = seen else { return Ok(None) };
                let rows = sqlx::query_as!(
                    EventRow,
                    "select id, calendar_id, content, start_at, end_at, all_day, status, source, reminders, version,
                        created_at, updated_at, recurrence, series_id, original_start,
                        hold_expires_at, hold_priority, hold_scope, hold_set_id, transparent
                     from events
                     where org_id = ?1 and calendar_id = ?2 and revision > ?3 and +deleted_at is null
                        and +status <> 'cancelled' and +start_at < ?5 and coalesce(reaches, end_at) > ?4
                     order by revision, id limit ?6",
                    org_id,
                    id,
                    since.0,
                    from,
                    to,
                    CHANGED_SINCE_MAX
                )
                .fetch_all(snapshot)
                .await
                .map_err(store_error)?;
                Ok(Some((seen, rows)))
            })
            .await?;
        let Some((seen, rows)) = found else { return Ok(None) };
        Ok(Some(ChangedSince {
            revision: Revision(seen.revision),
            rules_changed: seen.rules_revision > since.0,
            events: self.read_events(org, rows)?,
        }))
    }
}

impl SqliteStore {
    /// The first events that left the calendar, in order.
    async fn moved(
        &self,
        org: OrgId,
        calendar: CalendarId,
        revision: Revision,
        since: ChangesSince,
        limit: u32,
    ) -> Result<Vec<(Revision, Changed)>, StoreError> {
        let (org_id, id) = (org.uuid(), calendar.uuid());
        let (after, after_id) = (since.after.revision.0, since.after.id.uuid());
        let rows = sqlx::query!(
            "select event_id, series_id, original_start, revision from moved_events
             where org_id = ?1 and calendar_id = ?2 and (revision, event_id) > (?3, ?4) and revision <= ?5
                and revision > ?6
             order by revision, event_id limit ?7",
            org_id,
            id,
            after,
            after_id,
            revision.0,
            since.deleted_after.0,
            limit
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        let moved = rows.into_iter().map(|row| {
            let gone = deleted("moved_events", &row.event_id, row.series_id.as_deref(), row.original_start)?;
            Ok((Revision(row.revision), gone))
        });
        moved.collect()
    }
}

/// An event that is gone, from the columns of its row.
fn deleted(
    table: &'static str,
    id: &[u8],
    series: Option<&[u8]>,
    original_start: Option<i64>,
) -> Result<Changed, StoreError> {
    let id = EventId::from_uuid(row_id(table, "id", id)?);
    let located = Located { table, id: &id };
    let series = series.map(|series| located.uuid("series_id", series)).transpose()?;
    let occurrence = series
        .zip(original_start)
        .map(|(series, start)| Occurrence { series: EventId::from_uuid(series), start: Timestamp::from_micros(start) });
    Ok(Changed::Deleted { id, occurrence })
}
