//! Reads visible events.

use std::collections::BTreeMap;

use async_trait::async_trait;
use kalends_calendars::ports::{EventFilter, EventScope, Events, OwnedEvent};
use kalends_calendars::{ContextEvents, Event, RECENT_MAX, UPCOMING_MAX};
use kalends_kernel::{AgentId, CalendarId, EventId, Listed, OrgId, PAGE_BYTES_MAX, Page, StoreError};
use kalends_rows::WantedMetadata;
use kalends_time::Timestamp;
use kalends_warm_pool::{RowsWithin, rows_within, sealed_weight};
use uuid::Uuid;

use super::filter::Bounds;
use super::listed_of;
use crate::PostgresStore;
use crate::error::store_error;
use crate::rows::{EventRow, event_row, publication};

#[async_trait]
impl Events for PostgresStore {
    async fn find_event(&self, org: OrgId, id: EventId) -> Result<Option<OwnedEvent>, StoreError> {
        // The OFFSET keeps the join order: without statistics, reading all calendars of the organization first looks
        // as cheap to Postgres.
        let record = sqlx::query!(
            r#"SELECT e.id, e.calendar_id, e.content, e.start_at, e.end_at, e.all_day, e.status, e.source,
                 e.reminders, e.version, e.created_at, e.updated_at, e.deleted_at, e.recurrence, e.series_id,
                 e.original_start, e.hold_expires_at, e.hold_priority, e.hold_scope, e.hold_set_id, e.transparent,
                 c.agent_id, c.timezone AS "timezone!", c.publication_policy AS "publication_policy?"
             FROM events e
             CROSS JOIN LATERAL (
                 SELECT c.agent_id, c.timezone, c.publication_policy
                 FROM calendars c
                 LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
                 WHERE c.org_id = $1 AND c.id = e.calendar_id AND c.deleted_at IS NULL
                     AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
                 OFFSET 0
             ) c
             WHERE e.org_id = $1 AND e.id = $2"#,
            org.uuid(),
            id.uuid(),
        );
        let Some(record) = record.fetch_optional(&self.connections).await.map_err(store_error)? else {
            return Ok(None);
        };
        // Checked here and not in SQL: before the table is first analyzed, an index on events that are not deleted
        // looks as good to Postgres as the primary key, and would be read from end to end.
        if record.deleted_at.is_some() || record.series_id.is_some() {
            return Ok(None);
        }
        let agent = record.agent_id.map(AgentId::from_uuid);
        let (timezone, policy) = (record.timezone, record.publication_policy);
        let event = event_row!(record).open(org, &*self.cipher)?;
        let publication = publication(event.calendar, &timezone, policy.as_deref())?;
        Ok(Some(OwnedEvent { event, agent, publication }))
    }

    async fn events_of(&self, org: OrgId, calendars: &[CalendarId], ids: &[EventId]) -> Result<Vec<Event>, StoreError> {
        let calendars: Vec<Uuid> = calendars.iter().map(|calendar| calendar.uuid()).collect();
        let ids: Vec<Uuid> = ids.iter().map(|id| id.uuid()).collect();
        // The subqueries that end with OFFSET are evaluated for each event; otherwise Postgres may read all events of
        // the calendars, or of the organization.
        let records = sqlx::query!(
            "SELECT e.id, e.calendar_id, e.content, e.start_at, e.end_at, e.all_day, e.status, e.source,
                 e.reminders, e.version, e.created_at, e.updated_at, e.deleted_at, e.recurrence, e.series_id,
                 e.original_start, e.hold_expires_at, e.hold_priority, e.hold_scope, e.hold_set_id, e.transparent
             FROM unnest($3::uuid[]) AS asked (id)
             CROSS JOIN LATERAL (SELECT * FROM events WHERE org_id = $1 AND id = asked.id OFFSET 0) e
             CROSS JOIN LATERAL (
                 SELECT c.id
                 FROM calendars c
                 LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
                 WHERE c.org_id = $1 AND c.id = e.calendar_id AND c.deleted_at IS NULL
                     AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
                 OFFSET 0
             ) c
             WHERE e.calendar_id = ANY($2)",
            org.uuid(),
            &calendars,
            &ids,
        );
        let records = records.fetch_all(&self.connections).await.map_err(store_error)?;
        let there = records.into_iter().filter(|record| record.deleted_at.is_none());
        there.map(|record| event_row!(record).open(org, &*self.cipher)).collect()
    }

    async fn list_events(
        &self,
        org: OrgId,
        scope: EventScope,
        filter: EventFilter,
        page: Page,
    ) -> Result<Listed<Event>, StoreError> {
        let wanted = WantedMetadata::of(org, &filter.metadata, &*self.cipher);
        let filter = Bounds::of(&filter);
        match (scope, wanted) {
            (_, Some(wanted)) => self.events_by_metadata(org, scope, filter, &wanted, page).await,
            (EventScope::Calendar(calendar), None) => self.events_of_calendar(org, calendar, filter, page).await,
            (EventScope::Agent(agent), None) => self.events_of_agent(org, agent, filter, page).await,
        }
    }

    async fn context_events(
        &self,
        org: OrgId,
        calendar: CalendarId,
        now: Timestamp,
    ) -> Result<ContextEvents, StoreError> {
        // The latest and the next few events by either index, and the series that may have instances among them.
        let rows = sqlx::query_as!(
            EventRow,
            "SELECT e.id, e.calendar_id, e.content, e.start_at, e.end_at, e.all_day, e.status, e.source,
                 e.reminders, e.version, e.created_at, e.updated_at, e.recurrence, e.series_id,
                 e.original_start, e.hold_expires_at, e.hold_priority, e.hold_scope, e.hold_set_id, e.transparent
             FROM events e
             JOIN calendars c ON c.org_id = e.org_id AND c.id = e.calendar_id
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE e.org_id = $1 AND c.deleted_at IS NULL AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
                 AND e.id IN (
                     (SELECT id FROM events
                      WHERE org_id = $1 AND calendar_id = $2 AND deleted_at IS NULL AND recurrence IS NULL
                          AND status <> 'cancelled' AND end_at > $3 AND start_at <= $3
                          AND (hold_expires_at IS NULL OR hold_expires_at > $3)
                      ORDER BY start_at DESC, id DESC LIMIT 1)
                     UNION ALL
                     (SELECT id FROM events
                      WHERE org_id = $1 AND calendar_id = $2 AND deleted_at IS NULL AND recurrence IS NULL
                          AND status <> 'cancelled' AND start_at > $3
                          AND (hold_expires_at IS NULL OR hold_expires_at > $3)
                      ORDER BY start_at, id LIMIT $4)
                     UNION ALL
                     (SELECT id FROM events
                      WHERE org_id = $1 AND calendar_id = $2 AND deleted_at IS NULL AND recurrence IS NULL
                          AND status <> 'cancelled' AND end_at <= $3
                          AND (hold_expires_at IS NULL OR hold_expires_at > $3)
                      ORDER BY end_at DESC, id DESC LIMIT $5)
                     UNION ALL
                     (SELECT id FROM events
                      WHERE org_id = $1 AND calendar_id = $2 AND deleted_at IS NULL AND recurrence IS NOT NULL
                          AND status <> 'cancelled' AND reaches > $3)
                     UNION ALL
                     (SELECT id FROM events
                      WHERE org_id = $1 AND calendar_id = $2 AND deleted_at IS NULL AND recurrence IS NOT NULL
                          AND status <> 'cancelled' AND reaches <= $3
                      ORDER BY reaches DESC LIMIT $5)
                 )",
            org.uuid(),
            calendar.uuid(),
            now.as_micros(),
            i64::from(UPCOMING_MAX),
            i64::from(RECENT_MAX),
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        let (series, single_events): (Vec<EventRow>, Vec<EventRow>) =
            rows.into_iter().partition(|row| row.recurrence.is_some());
        let single_events =
            single_events.into_iter().map(|row| row.open(org, &*self.cipher)).collect::<Result<Vec<_>, _>>()?;
        let repeating = series.iter().map(EventRow::repeating).collect::<Result<Vec<_>, _>>()?;
        let series: BTreeMap<EventId, EventRow> =
            repeating.iter().zip(series).map(|(series, row)| (series.id, row)).collect();
        ContextEvents::around(&single_events, &repeating, now, |id| {
            series.get(&id).map(|row| row.clone().open(org, &*self.cipher)).transpose()
        })
    }
}

impl PostgresStore {
    async fn events_of_calendar(
        &self,
        org: OrgId,
        calendar: CalendarId,
        filter: Bounds,
        page: Page,
    ) -> Result<Listed<Event>, StoreError> {
        let records = sqlx::query!(
            r#"WITH page AS MATERIALIZED (
                 SELECT id, calendar_id, content, start_at, end_at, all_day, status, source, reminders,
                     version, created_at, updated_at, recurrence, series_id, original_start,
                     hold_expires_at, hold_priority, hold_scope, hold_set_id, transparent
                 FROM events
                 WHERE org_id = $1 AND calendar_id = $2 AND deleted_at IS NULL AND series_id IS NULL
                     AND start_at >= $3 AND start_at < $4
                     AND ($5::text IS NULL OR CASE WHEN status = 'hold' AND hold_expires_at <= $9 THEN 'cancelled' ELSE status END = $5) AND ($6::text IS NULL OR source = $6)
                     AND EXISTS (
                         SELECT 1
                         FROM calendars c
                         LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
                         WHERE c.org_id = $1 AND c.id = $2 AND c.deleted_at IS NULL
                             AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
                     )
                 ORDER BY start_at, id
                 LIMIT $7::bigint OFFSET $8::bigint
             )
             SELECT id, calendar_id, content, start_at, end_at, all_day, status, source, reminders, version,
                 created_at, updated_at, recurrence, series_id, original_start,
                 hold_expires_at, hold_priority, hold_scope, hold_set_id, transparent,
                 CASE WHEN (SELECT count(*) FROM page) = $7 THEN (
                     SELECT count(*) FROM events
                     WHERE org_id = $1 AND calendar_id = $2 AND deleted_at IS NULL AND series_id IS NULL
                     AND start_at >= $3 AND start_at < $4
                         AND ($5::text IS NULL OR CASE WHEN status = 'hold' AND hold_expires_at <= $9 THEN 'cancelled' ELSE status END = $5) AND ($6::text IS NULL OR source = $6)
                 ) END AS total
             FROM page
             ORDER BY start_at, id"#,
            org.uuid(),
            calendar.uuid(),
            filter.from,
            filter.before,
            filter.status,
            filter.source,
            i64::from(page.limit),
            i64::from(page.offset),
            filter.now,
        );
        let rows =
            rows_within(records.fetch(&self.connections), |record| sealed_weight(&record.content), PAGE_BYTES_MAX);
        let RowsWithin { rows, fetched } = rows.await.map_err(store_error)?;
        let counted = rows.first().and_then(|record| record.total);
        let events = rows.into_iter().map(|record| event_row!(record).open(org, &*self.cipher));
        let count = sqlx::query_scalar!(
            r#"SELECT count(*) AS "count!" FROM events
             WHERE org_id = $1 AND calendar_id = $2 AND deleted_at IS NULL AND series_id IS NULL
                     AND start_at >= $3 AND start_at < $4
                 AND ($5::text IS NULL OR CASE WHEN status = 'hold' AND hold_expires_at <= $7 THEN 'cancelled' ELSE status END = $5) AND ($6::text IS NULL OR source = $6)
                 AND EXISTS (
                     SELECT 1
                     FROM calendars c
                     LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
                     WHERE c.org_id = $1 AND c.id = $2 AND c.deleted_at IS NULL
                         AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
                 )"#,
            org.uuid(),
            calendar.uuid(),
            filter.from,
            filter.before,
            filter.status,
            filter.source,
            filter.now,
        );
        let events = events.collect::<Result<_, _>>()?;
        listed_of(events, fetched, page, counted, count.fetch_one(&self.connections)).await
    }

    async fn events_of_agent(
        &self,
        org: OrgId,
        agent: AgentId,
        filter: Bounds,
        page: Page,
    ) -> Result<Listed<Event>, StoreError> {
        // Reads no more of each calendar than a page can show, in the order of its index; then merges.
        let records = sqlx::query!(
            r#"WITH page AS MATERIALIZED (
                 SELECT e.id, e.calendar_id, e.content, e.start_at, e.end_at, e.all_day, e.status, e.source,
                     e.reminders, e.version, e.created_at, e.updated_at, e.recurrence, e.series_id,
                 e.original_start, e.hold_expires_at, e.hold_priority, e.hold_scope, e.hold_set_id, e.transparent
                 FROM agents a
                 JOIN calendars c ON c.org_id = a.org_id AND c.agent_id = a.id
                 CROSS JOIN LATERAL (
                     SELECT * FROM events
                     WHERE org_id = c.org_id AND calendar_id = c.id AND deleted_at IS NULL AND series_id IS NULL
                         AND start_at >= $3 AND start_at < $4
                         AND ($5::text IS NULL OR CASE WHEN status = 'hold' AND hold_expires_at <= $9 THEN 'cancelled' ELSE status END = $5) AND ($6::text IS NULL OR source = $6)
                     ORDER BY start_at, id
                     LIMIT $7::bigint + $8::bigint
                 ) e
                 WHERE a.org_id = $1 AND a.id = $2 AND a.status <> 'decommissioned' AND c.deleted_at IS NULL
                 ORDER BY e.start_at, e.id
                 LIMIT $7::bigint OFFSET $8::bigint
             )
             SELECT id, calendar_id, content, start_at, end_at, all_day, status, source, reminders, version,
                 created_at, updated_at, recurrence, series_id, original_start,
                 hold_expires_at, hold_priority, hold_scope, hold_set_id, transparent,
                 CASE WHEN (SELECT count(*) FROM page) = $7 THEN (
                     SELECT count(*)
                     FROM calendars c
                     JOIN events e ON e.org_id = c.org_id AND e.calendar_id = c.id
                     WHERE c.org_id = $1 AND c.agent_id = $2 AND c.deleted_at IS NULL AND e.deleted_at IS NULL
                 AND e.series_id IS NULL
                         AND e.start_at >= $3 AND e.start_at < $4
                         AND ($5::text IS NULL OR CASE WHEN e.status = 'hold' AND e.hold_expires_at <= $9 THEN 'cancelled' ELSE e.status END = $5) AND ($6::text IS NULL OR e.source = $6)
                 ) END AS total
             FROM page
             ORDER BY start_at, id"#,
            org.uuid(),
            agent.uuid(),
            filter.from,
            filter.before,
            filter.status,
            filter.source,
            i64::from(page.limit),
            i64::from(page.offset),
            filter.now,
        );
        let rows =
            rows_within(records.fetch(&self.connections), |record| sealed_weight(&record.content), PAGE_BYTES_MAX);
        let RowsWithin { rows, fetched } = rows.await.map_err(store_error)?;
        let counted = rows.first().and_then(|record| record.total);
        let events = rows.into_iter().map(|record| event_row!(record).open(org, &*self.cipher));
        let count = sqlx::query_scalar!(
            r#"SELECT count(*) AS "count!"
             FROM agents a
             JOIN calendars c ON c.org_id = a.org_id AND c.agent_id = a.id
             JOIN events e ON e.org_id = c.org_id AND e.calendar_id = c.id
             WHERE a.org_id = $1 AND a.id = $2 AND a.status <> 'decommissioned'
                 AND c.deleted_at IS NULL AND e.deleted_at IS NULL
                 AND e.series_id IS NULL
                 AND e.start_at >= $3 AND e.start_at < $4
                 AND ($5::text IS NULL OR CASE WHEN e.status = 'hold' AND e.hold_expires_at <= $7 THEN 'cancelled' ELSE e.status END = $5) AND ($6::text IS NULL OR e.source = $6)"#,
            org.uuid(),
            agent.uuid(),
            filter.from,
            filter.before,
            filter.status,
            filter.source,
            filter.now,
        );
        let events = events.collect::<Result<_, _>>()?;
        listed_of(events, fetched, page, counted, count.fetch_one(&self.connections)).await
    }
}
