//! Reads visible series, their overrides and their instances.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use kalends_calendars::ports::{BlockingSeries, InstanceFilter, InstanceScope, Instances, LONG, SearchFilter};
use kalends_calendars::{
    Candidates, Entry, Event, EventSource, INSTANCES_MAX, Occurrence, Repeating, SearchPosition, SingleInstance,
    page_of_instances,
};
use kalends_kernel::{CalendarId, EventId, Listed, OrgId, Page, Revision, StoreError};
use kalends_rows::WantedMetadata;
use kalends_time::{Span, Timestamp};
use sqlx::{Connection as _, PgConnection};
use uuid::Uuid;

use super::event_metadata::events_with;
use super::filter::listed_ids;
use crate::PostgresStore;
use crate::error::store_error;
use crate::rows::{EventRow, RepeatingRow};

#[async_trait]
impl Instances for PostgresStore {
    async fn find_override(&self, org: OrgId, occurrence: Occurrence) -> Result<Option<Event>, StoreError> {
        let row = sqlx::query_as!(
            EventRow,
            "SELECT e.id, e.calendar_id, e.content, e.start_at, e.end_at, e.all_day, e.status, e.source,
                 e.reminders, e.version, e.created_at, e.updated_at, e.recurrence, e.series_id,
                 e.original_start, e.hold_expires_at, e.hold_priority, e.hold_scope, e.hold_set_id, e.transparent
             FROM events e
             JOIN calendars c ON c.org_id = e.org_id AND c.id = e.calendar_id
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE e.org_id = $1 AND e.series_id = $2 AND e.original_start = $3 AND e.deleted_at IS NULL
                 AND c.deleted_at IS NULL AND (c.agent_id IS NULL OR a.status <> 'decommissioned')",
            org.uuid(),
            occurrence.series.uuid(),
            occurrence.start.as_micros(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        row.map(|row| row.open(org, &*self.cipher)).transpose()
    }

    async fn list_overrides(&self, org: OrgId, series: EventId) -> Result<Vec<Event>, StoreError> {
        let rows = sqlx::query_as!(
            EventRow,
            "SELECT e.id, e.calendar_id, e.content, e.start_at, e.end_at, e.all_day, e.status, e.source,
                 e.reminders, e.version, e.created_at, e.updated_at, e.recurrence, e.series_id,
                 e.original_start, e.hold_expires_at, e.hold_priority, e.hold_scope, e.hold_set_id, e.transparent
             FROM events e
             JOIN calendars c ON c.org_id = e.org_id AND c.id = e.calendar_id
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE e.org_id = $1 AND e.series_id = $2 AND e.deleted_at IS NULL
                 AND c.deleted_at IS NULL AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
             ORDER BY e.original_start",
            org.uuid(),
            series.uuid(),
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        rows.into_iter().map(|row| row.open(org, &*self.cipher)).collect()
    }

    async fn list_instances(
        &self,
        org: OrgId,
        scope: InstanceScope<'_>,
        filter: InstanceFilter,
        page: Page,
    ) -> Result<Option<Listed<Event>>, StoreError> {
        let mut connection = self.connections.acquire().await.map_err(store_error)?;
        // All statements see the same snapshot.
        let mut snapshot =
            connection.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await.map_err(store_error)?;
        let mut repeating = series_in(&mut snapshot, org, scope, &filter).await?;
        let mut single_events = single_events_in(&mut snapshot, org, scope, &filter).await?;
        if let Some(wanted) = WantedMetadata::of(org, &filter.metadata, &*self.cipher) {
            let matching = events_with(&mut snapshot, org, scope, &wanted).await?;
            repeating.retain(|series| matching.contains(&series.id));
            single_events.retain(|single| matching.contains(&single.id));
        }
        let listed = page_of_instances(&repeating, &single_events, filter.window, page);
        let rows = match &listed {
            Some(listed) => rows_of(&mut snapshot, org, &listed.data).await?,
            None => Vec::new(),
        };
        snapshot.rollback().await.map_err(store_error)?;
        connection.keep();
        let Some(Listed { data, total }) = listed else { return Ok(None) };
        let rows = rows.into_iter().map(|row| row.open(org, &*self.cipher)).collect::<Result<Vec<_>, _>>()?;
        let rows = rows.into_iter().map(|event| (event.id, event)).collect();
        Ok(Some(Listed { data: data.iter().filter_map(|entry| entry.event(&rows)).collect(), total }))
    }

    async fn events_to_search(
        &self,
        org: OrgId,
        filter: SearchFilter,
        after: Option<SearchPosition>,
        limit: usize,
    ) -> Result<Candidates, StoreError> {
        self.candidates(org, filter, after, limit).await
    }

    async fn blocking_series(
        &self,
        org: OrgId,
        calendars: &[CalendarId],
        window: Span,
    ) -> Result<Vec<BlockingSeries>, StoreError> {
        let calendars: Vec<Uuid> = calendars.iter().map(|calendar| calendar.uuid()).collect();
        // The subquery that ends with OFFSET is evaluated for each calendar; otherwise Postgres may read all series
        // of the organization.
        let records = sqlx::query!(
            r#"SELECT c.id AS calendar_id, c.revision, e.id AS "id?", e.start_at AS "start_at?", e.end_at AS "end_at?",
                 e.all_day AS "all_day?", e.recurrence AS "recurrence?"
             FROM calendars c
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             LEFT JOIN LATERAL (
                 SELECT id, start_at, end_at, all_day, recurrence FROM events
                 WHERE org_id = c.org_id AND calendar_id = c.id AND recurrence IS NOT NULL AND deleted_at IS NULL
                     AND reaches > $3 AND start_at < $4 AND status IN ('confirmed', 'tentative') AND NOT transparent
                 OFFSET 0
             ) e ON TRUE
             WHERE c.org_id = $1 AND c.id = ANY($2) AND c.deleted_at IS NULL
                 AND (c.agent_id IS NULL OR a.status <> 'decommissioned')"#,
            org.uuid(),
            &calendars,
            window.start().as_micros(),
            window.end().as_micros(),
        );
        let records = records.fetch_all(&self.connections).await.map_err(store_error)?;
        let mut of: BTreeMap<Uuid, BlockingSeries> = BTreeMap::new();
        for record in records {
            let (calendar, revision) = (CalendarId::from_uuid(record.calendar_id), Revision(record.revision));
            let blocking = of.entry(record.calendar_id);
            let blocking = blocking.or_insert_with(|| BlockingSeries { calendar, revision, series: Vec::new() });
            if let (Some(id), Some(start_at), Some(end_at), Some(all_day), Some(recurrence)) =
                (record.id, record.start_at, record.end_at, record.all_day, &record.recurrence)
            {
                let row =
                    RepeatingRow { id: &id, calendar_id: &record.calendar_id, start_at, end_at, all_day, recurrence };
                blocking.series.push(row.into_domain()?);
            }
        }
        Ok(of.into_values().collect())
    }
}

async fn series_in(
    snapshot: &mut PgConnection,
    org: OrgId,
    scope: InstanceScope<'_>,
    filter: &InstanceFilter,
) -> Result<Vec<Repeating>, StoreError> {
    let (calendars, agent) = listed_ids(scope);
    // The subqueries that end with OFFSET are evaluated for each calendar, here and below; otherwise Postgres may read
    // all calendars and series of the organization.
    let records = sqlx::query!(
        r#"SELECT e.id, c.id AS calendar_id, e.start_at, e.end_at, e.all_day, e.recurrence AS "recurrence!"
         FROM (
             SELECT unnest($2::uuid[]) AS id UNION SELECT id FROM calendars WHERE org_id = $1 AND agent_id = $3
         ) asked
         CROSS JOIN LATERAL (
             SELECT c.org_id, c.id
             FROM calendars c
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE c.org_id = $1 AND c.id = asked.id AND c.deleted_at IS NULL
                 AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
             OFFSET 0
         ) c
         CROSS JOIN LATERAL (
             SELECT id, start_at, end_at, all_day, recurrence FROM events
             WHERE org_id = c.org_id AND calendar_id = c.id AND recurrence IS NOT NULL AND deleted_at IS NULL
                 AND reaches > $4 AND start_at < $5
                 AND ($6::text IS NULL OR status = $6) AND ($7::text IS NULL OR source = $7)
             OFFSET 0
         ) e"#,
        org.uuid(),
        &calendars,
        agent,
        filter.window.start().as_micros(),
        filter.window.end().as_micros(),
        filter.status.map(|at| at.status.as_str()),
        filter.source.map(EventSource::as_str),
    );
    let records = records.fetch_all(snapshot).await.map_err(store_error)?;
    let read = records.iter().map(|record| {
        RepeatingRow {
            id: &record.id,
            calendar_id: &record.calendar_id,
            start_at: record.start_at,
            end_at: record.end_at,
            all_day: record.all_day,
            recurrence: &record.recurrence,
        }
        .into_domain()
    });
    read.collect()
}

/// One-off events and overrides that overlap the window, cut off at the limit of a list.
async fn single_events_in(
    snapshot: &mut PgConnection,
    org: OrgId,
    scope: InstanceScope<'_>,
    filter: &InstanceFilter,
) -> Result<Vec<SingleInstance>, StoreError> {
    let (calendars, agent) = listed_ids(scope);
    let records = sqlx::query!(
        r#"SELECT standing.id AS "id!", standing.start_at AS "start_at!", standing.series_id, standing.original_start
         FROM (
             SELECT unnest($2::uuid[]) AS id UNION SELECT id FROM calendars WHERE org_id = $1 AND agent_id = $3
         ) asked
         CROSS JOIN LATERAL (
             SELECT c.org_id, c.id
             FROM calendars c
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE c.org_id = $1 AND c.id = asked.id AND c.deleted_at IS NULL
                 AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
             OFFSET 0
         ) c
         CROSS JOIN LATERAL (
             SELECT id, start_at, series_id, original_start FROM events
             WHERE org_id = c.org_id AND calendar_id = c.id AND deleted_at IS NULL AND recurrence IS NULL
                 AND start_at > $8 AND start_at < $5 AND end_at > $4 AND end_at - start_at <= 86400000000
                 AND ($6::text IS NULL OR CASE WHEN status = 'hold' AND hold_expires_at <= $10 THEN 'cancelled' ELSE status END = $6) AND ($7::text IS NULL OR source = $7)
             UNION ALL
             SELECT id, start_at, series_id, original_start FROM events
             WHERE org_id = c.org_id AND calendar_id = c.id AND deleted_at IS NULL AND recurrence IS NULL
                 AND end_at - start_at > 86400000000 AND end_at > $4 AND start_at < $5
                 AND ($6::text IS NULL OR CASE WHEN status = 'hold' AND hold_expires_at <= $10 THEN 'cancelled' ELSE status END = $6) AND ($7::text IS NULL OR source = $7)
         ) standing
         LIMIT $9"#,
        org.uuid(),
        &calendars,
        agent,
        filter.window.start().as_micros(),
        filter.window.end().as_micros(),
        filter.status.map(|at| at.status.as_str()),
        filter.source.map(EventSource::as_str),
        (filter.window.start() - LONG).as_micros(),
        i64::try_from(INSTANCES_MAX).unwrap_or(i64::MAX).saturating_add(1),
        filter.status.map(|at| at.now.as_micros()),
    );
    let records = records.fetch_all(snapshot).await.map_err(store_error)?;
    let read = records.into_iter().map(|record| {
        let occurrence = record.series_id.zip(record.original_start).map(|(series, start)| Occurrence {
            series: EventId::from_uuid(series),
            start: Timestamp::from_micros(start),
        });
        SingleInstance { id: EventId::from_uuid(record.id), start: Timestamp::from_micros(record.start_at), occurrence }
    });
    Ok(read.collect())
}

/// The rows of the events that the entries show.
async fn rows_of(snapshot: &mut PgConnection, org: OrgId, entries: &[Entry]) -> Result<Vec<EventRow>, StoreError> {
    let distinct: BTreeSet<EventId> = entries.iter().map(Entry::row).collect();
    let distinct: Vec<Uuid> = distinct.into_iter().map(|id| id.uuid()).collect();
    sqlx::query_as!(
        EventRow,
        "SELECT id, calendar_id, content, start_at, end_at, all_day, status, source, reminders, version,
             created_at, updated_at, recurrence, series_id, original_start,
             hold_expires_at, hold_priority, hold_scope, hold_set_id, transparent
         FROM events
         WHERE org_id = $1 AND id = ANY($2)",
        org.uuid(),
        &distinct,
    )
    .fetch_all(snapshot)
    .await
    .map_err(store_error)
}
