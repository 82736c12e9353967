//! Lists of events by their metadata, and the index that they use.

use std::collections::BTreeSet;

use async_trait::async_trait;
use kalends_calendars::Event;
use kalends_calendars::ports::{EventScope, InstanceScope, MetadataIndex};
use kalends_kernel::{EventId, Listed, OrgId, PAGE_BYTES_MAX, Page, StoreError};
use kalends_rows::{NoDigests, WantedMetadata, stored_digests};
use kalends_warm_pool::{RowsWithin, rows_within, sealed_weight};
use sqlx::PgConnection;
use uuid::Uuid;

use super::filter::{Bounds, ids, listed_ids};
use super::listed_of;
use crate::PostgresStore;
use crate::error::store_error;
use crate::retry::retried;
use crate::rows::event_row;

#[async_trait]
impl MetadataIndex for PostgresStore {
    async fn is_metadata_indexed(&self, org: OrgId) -> Result<bool, StoreError> {
        // The predicate of `events_not_indexed`. A plain `IS DISTINCT FROM` would make Postgres read the whole table.
        let left = sqlx::query_scalar!(
            r#"SELECT EXISTS (
                 SELECT 1 FROM events WHERE org_id = $1 AND (indexed_version IS DISTINCT FROM version)::int = 1
             ) AS "left!""#,
            org.uuid(),
        );
        Ok(!left.fetch_one(&self.connections).await.map_err(store_error)?)
    }

    async fn index_metadata(&self, limit: u32) -> Result<bool, StoreError> {
        // The events of one organization, so that the statement below locks no rows of another.
        let left = sqlx::query!(
            "SELECT org_id, id, content, version FROM events
             WHERE (indexed_version IS DISTINCT FROM version)::int = 1 AND org_id = (
                 SELECT org_id FROM events WHERE (indexed_version IS DISTINCT FROM version)::int = 1
                 ORDER BY org_id LIMIT 1
             )
             ORDER BY id
             LIMIT $1",
            i64::from(limit),
        );
        let left = left.fetch_all(&self.connections).await.map_err(store_error)?;
        let Some(first) = left.first() else { return Ok(true) };
        let org = OrgId::from_uuid(first.org_id);
        let (mut ids, mut versions) = (Vec::with_capacity(left.len()), Vec::with_capacity(left.len()));
        let (mut events, mut digests, mut unknown) = (Vec::new(), Vec::new(), None);
        for row in &left {
            let id = EventId::from_uuid(row.id);
            let found = match stored_digests(org, id, &row.content, &*self.cipher) {
                Ok(found) => found,
                Err(NoDigests::Later(error)) => {
                    unknown = Some(error);
                    continue;
                }
                Err(NoDigests::Never(error)) => {
                    tracing::error!(%org, error = &error as &dyn std::error::Error, "cannot index the metadata of an event");
                    Vec::new()
                }
            };
            events.extend(std::iter::repeat_n(row.id, found.len()));
            digests.extend(found);
            ids.push(row.id);
            versions.push(row.version);
        }
        let indexed = retried(|| {
            sqlx::query!(
                "WITH indexed AS (
                     UPDATE events e SET indexed_version = e.version
                     FROM unnest($2::uuid[], $3::bigint[]) AS row (id, version)
                     WHERE e.org_id = $1 AND e.id = row.id AND e.version = row.version
                         AND e.indexed_version IS DISTINCT FROM e.version
                     RETURNING e.id, e.calendar_id, e.deleted_at
                 ), gone AS (
                     DELETE FROM event_metadata m USING indexed
                     WHERE m.org_id = $1 AND m.event_id = indexed.id AND NOT EXISTS (
                         SELECT 1 FROM unnest($4::uuid[], $5::bigint[]) AS kept (id, digest)
                         WHERE kept.id = m.event_id AND kept.digest = m.digest
                     )
                 )
                 INSERT INTO event_metadata (org_id, event_id, digest, calendar_id)
                 SELECT $1, indexed.id, row.digest, indexed.calendar_id
                 FROM unnest($4::uuid[], $5::bigint[]) AS row (id, digest) JOIN indexed ON indexed.id = row.id
                 WHERE indexed.deleted_at IS NULL
                 ON CONFLICT (org_id, event_id, digest) DO NOTHING",
                org.uuid(),
                &ids,
                &versions,
                &events,
                &digests,
            )
            .execute(&self.connections)
        });
        indexed.await.map_err(store_error)?;
        unknown.map_or(Ok(false), Err)
    }
}

/// The events of a scope with the metadata, overrides included.
pub(super) async fn events_with(
    snapshot: &mut PgConnection,
    org: OrgId,
    scope: InstanceScope<'_>,
    wanted: &WantedMetadata,
) -> Result<BTreeSet<EventId>, StoreError> {
    let (calendars, agent) = listed_ids(scope);
    // Here and below, a subquery that ends with OFFSET is evaluated for each digest or event. Otherwise Postgres may
    // read all digests of the calendar or, without statistics, all events of the organization for each that matches.
    let found = sqlx::query_scalar!(
        "SELECT m.event_id
         FROM (
             SELECT unnest($2::uuid[]) AS id UNION SELECT id FROM calendars WHERE org_id = $1 AND agent_id = $3
         ) c
         CROSS JOIN unnest($4::bigint[], $5::bigint[]) AS wanted (filter, digest)
         CROSS JOIN LATERAL (
             SELECT event_id FROM event_metadata
             WHERE org_id = $1 AND calendar_id = c.id AND digest = wanted.digest
             OFFSET 0
         ) m
         GROUP BY m.event_id
         HAVING count(DISTINCT wanted.filter) = $6",
        org.uuid(),
        &calendars,
        agent,
        &wanted.filters,
        &wanted.digests,
        wanted.count,
    );
    let found: Vec<Uuid> = found.fetch_all(snapshot).await.map_err(store_error)?;
    Ok(found.into_iter().map(EventId::from_uuid).collect())
}

impl PostgresStore {
    pub(super) async fn events_by_metadata(
        &self,
        org: OrgId,
        scope: EventScope,
        filter: Bounds,
        wanted: &WantedMetadata,
        page: Page,
    ) -> Result<Listed<Event>, StoreError> {
        let (calendar, agent) = ids(scope);
        let records = sqlx::query!(
            r#"WITH matching AS MATERIALIZED (
                 SELECT m.event_id
                 FROM calendars c
                 LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
                 CROSS JOIN unnest($4::bigint[], $5::bigint[]) AS wanted (filter, digest)
                 CROSS JOIN LATERAL (
                     SELECT event_id FROM event_metadata
                     WHERE org_id = $1 AND calendar_id = c.id AND digest = wanted.digest
                     OFFSET 0
                 ) m
                 WHERE c.org_id = $1 AND (c.id = $2 OR c.agent_id = $3) AND c.deleted_at IS NULL
                     AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
                 GROUP BY m.event_id
                 HAVING count(DISTINCT wanted.filter) = $6
             ), found AS MATERIALIZED (
                 SELECT e.id, e.start_at
                 FROM matching
                 CROSS JOIN LATERAL (
                     SELECT * FROM events WHERE org_id = $1 AND id = matching.event_id
                     OFFSET 0
                 ) e
                 WHERE e.deleted_at IS NULL AND e.series_id IS NULL AND e.start_at >= $7 AND e.start_at < $8
                     AND ($9::text IS NULL OR CASE WHEN e.status = 'hold' AND e.hold_expires_at <= $10 THEN 'cancelled' ELSE e.status END = $9)
                     AND ($11::text IS NULL OR e.source = $11)
             ), page AS MATERIALIZED (
                 SELECT id, start_at FROM found ORDER BY start_at, id LIMIT $12::bigint OFFSET $13::bigint
             )
             SELECT e.id, e.calendar_id, e.content, e.start_at, e.end_at, e.all_day, e.status, e.source, e.reminders,
                 e.version, e.created_at, e.updated_at, e.recurrence, e.series_id, e.original_start, e.hold_expires_at,
                 e.hold_priority, e.hold_scope, e.hold_set_id, e.transparent,
                 (SELECT count(*) FROM found) AS "total!"
             FROM page
             JOIN events e ON e.org_id = $1 AND e.id = page.id
             ORDER BY page.start_at, page.id"#,
            org.uuid(),
            calendar,
            agent,
            &wanted.filters,
            &wanted.digests,
            wanted.count,
            filter.from,
            filter.before,
            filter.status,
            filter.now,
            filter.source,
            i64::from(page.limit),
            i64::from(page.offset),
        );
        let rows =
            rows_within(records.fetch(&self.connections), |record| sealed_weight(&record.content), PAGE_BYTES_MAX);
        let RowsWithin { rows, fetched } = rows.await.map_err(store_error)?;
        let counted = rows.first().map(|record| record.total);
        let events = rows.into_iter().map(|record| event_row!(record).open(org, &*self.cipher));
        let events = events.collect::<Result<_, _>>()?;
        let count = sqlx::query_scalar!(
            r#"SELECT count(*) AS "count!"
             FROM (
                 SELECT m.event_id
                 FROM calendars c
                 LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
                 CROSS JOIN unnest($4::bigint[], $5::bigint[]) AS wanted (filter, digest)
                 CROSS JOIN LATERAL (
                     SELECT event_id FROM event_metadata
                     WHERE org_id = $1 AND calendar_id = c.id AND digest = wanted.digest
                     OFFSET 0
                 ) m
                 WHERE c.org_id = $1 AND (c.id = $2 OR c.agent_id = $3) AND c.deleted_at IS NULL
                     AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
                 GROUP BY m.event_id
                 HAVING count(DISTINCT wanted.filter) = $6
             ) matching
             CROSS JOIN LATERAL (
                 SELECT * FROM events WHERE org_id = $1 AND id = matching.event_id
                 OFFSET 0
             ) e
             WHERE e.deleted_at IS NULL AND e.series_id IS NULL AND e.start_at >= $7 AND e.start_at < $8
                 AND ($9::text IS NULL OR CASE WHEN e.status = 'hold' AND e.hold_expires_at <= $10 THEN 'cancelled' ELSE e.status END = $9)
                 AND ($11::text IS NULL OR e.source = $11)"#,
            org.uuid(),
            calendar,
            agent,
            &wanted.filters,
            &wanted.digests,
            wanted.count,
            filter.from,
            filter.before,
            filter.status,
            filter.now,
            filter.source,
        );
        listed_of(events, fetched, page, counted, count.fetch_one(&self.connections)).await
    }
}
