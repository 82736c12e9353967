//! Lists of events by their metadata, and the index that they use.

use std::collections::BTreeSet;

use async_trait::async_trait;
use kalends_calendars::ports::{EventScope, InstanceScope, MetadataIndex};
use kalends_kernel::{EventId, Listed, OrgId, PAGE_BYTES_MAX, Page, StoreError};
use kalends_rows::{NoDigests, WantedMetadata, stored_digests};
use kalends_warm_pool::{RowsWithin, rows_within, sealed_weight};
use sqlx::{Connection as _, SqliteConnection};

use super::{
    count,
    filter::{Filter, ids, listed_ids},
};
use crate::{
    SqliteStore,
    error::store_error,
    json::{self, Hex},
    rows::{EventRow, row_id},
};

#[async_trait]
impl MetadataIndex for SqliteStore {
    async fn is_metadata_indexed(&self, org: OrgId) -> Result<bool, StoreError> {
        let org_id = org.uuid();
        let left = sqlx::query_scalar!(
            "select exists (select 1 from events where org_id = ?1 and indexed_version is not version)",
            org_id
        )
        .fetch_one(self.readers())
        .await
        .map_err(store_error)?;
        Ok(left == 0)
    }

    async fn index_metadata(&self, limit: u32) -> Result<bool, StoreError> {
        let left = sqlx::query!(
            "select org_id, id, content, version from events where indexed_version is not version
             order by org_id, id limit ?1",
            limit
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        if left.is_empty() {
            return Ok(true);
        }
        let (mut rows, mut unknown) = (Vec::with_capacity(left.len()), None);
        for row in &left {
            let org = OrgId::from_uuid(row_id("events", "org_id", &row.org_id)?);
            let id = EventId::from_uuid(row_id("events", "id", &row.id)?);
            let digests = match stored_digests(org, id, &row.content, self.cipher.as_ref()) {
                Ok(digests) => digests,
                Err(NoDigests::Later(error)) => {
                    unknown = Some(error);
                    continue;
                }
                Err(NoDigests::Never(error)) => {
                    tracing::error!(%org, error = &error as &dyn std::error::Error, "cannot index the metadata of an event");
                    Vec::new()
                }
            };
            rows.push((Hex(org.uuid()), Hex(id.uuid()), row.version, digests));
        }
        let rows = json::rows(&rows).map_err(store_error)?;
        let mut writing = self.database.writer.take().await?;
        match index(&mut writing.connection, &rows).await {
            Ok(()) => writing.hand_back(),
            Err(error) => {
                writing.close().await;
                return Err(store_error(error));
            }
        }
        match unknown {
            Some(error) => Err(error),
            None => Ok(left.len() < usize::try_from(limit).unwrap_or(usize::MAX)),
        }
    }
}

/// Writes the index of events that have not changed since they were read.
async fn index(connection: &mut SqliteConnection, rows: &str) -> Result<(), sqlx::Error> {
    let mut transaction = connection.begin_with("begin immediate").await?;
    sqlx::query!(
        "delete from event_metadata where (org_id, event_id) in (
            select e.org_id, e.id from jsonb_each(?1) row
                cross join events e on e.org_id = unhex(row.value ->> 0) and e.id = unhex(row.value ->> 1)
            where e.version = (row.value ->> 2) and e.indexed_version is not e.version)",
        rows
    )
    .execute(&mut *transaction)
    .await?;
    sqlx::query!(
        "insert into event_metadata (org_id, event_id, digest, calendar_id)
         select e.org_id, e.id, digest.value, e.calendar_id
         from jsonb_each(?1) row
            cross join events e on e.org_id = unhex(row.value ->> 0) and e.id = unhex(row.value ->> 1)
            cross join jsonb_each(row.value, '$[3]') digest
         where e.version = (row.value ->> 2) and e.indexed_version is not e.version and e.deleted_at is null",
        rows
    )
    .execute(&mut *transaction)
    .await?;
    sqlx::query!(
        "update events set indexed_version = events.version from jsonb_each(?1) row
         where events.org_id = unhex(row.value ->> 0) and events.id = unhex(row.value ->> 1)
            and events.version = (row.value ->> 2)",
        rows
    )
    .execute(&mut *transaction)
    .await?;
    transaction.commit().await
}

/// What a statement looks for, as a parameter: pairs of a filter and a digest.
fn parameter(wanted: &WantedMetadata) -> Result<String, StoreError> {
    let pairs: Vec<_> = wanted.filters.iter().zip(&wanted.digests).collect();
    json::rows(&pairs).map_err(store_error)
}

/// The events of a scope with the metadata, overrides included.
pub(super) async fn events_with(
    snapshot: &mut SqliteConnection,
    org: OrgId,
    scope: InstanceScope<'_>,
    wanted: &WantedMetadata,
) -> Result<BTreeSet<EventId>, StoreError> {
    let (org_id, (calendars, agent), pairs) = (org.uuid(), listed_ids(scope)?, parameter(wanted)?);
    let found = sqlx::query_scalar!(
        r#"select m.event_id as "event_id!: Vec<u8>" from calendars c cross join jsonb_each(?4) wanted
            cross join event_metadata m
                on m.org_id = ?1 and m.calendar_id = c.id and m.digest = (wanted.value ->> 1)
         where c.org_id = ?1 and c.id in (select unhex(value) from json_each(?2)
               union all select id from calendars where org_id = ?1 and agent_id = ?3)
         group by m.event_id having count(distinct wanted.value ->> 0) = ?5"#,
        org_id,
        calendars,
        agent,
        pairs,
        wanted.count
    )
    .fetch_all(snapshot)
    .await
    .map_err(store_error)?;
    found.iter().map(|id| Ok(EventId::from_uuid(row_id("event_metadata", "event_id", id)?))).collect()
}

impl SqliteStore {
    pub(super) async fn events_by_metadata(
        &self,
        org: OrgId,
        scope: EventScope,
        filter: Filter,
        wanted: &WantedMetadata,
        page: Page,
    ) -> Result<Listed<EventRow>, StoreError> {
        let (org_id, (calendar, agent), pairs) = (org.uuid(), ids(scope), parameter(wanted)?);
        self.snapshot(async |snapshot| {
            let rows = sqlx::query_as!(
                EventRow,
                r#"select e.id as "id!: _", e.calendar_id as "calendar_id!: _", e.content as "content!", e.start_at as "start_at!",
                    e.end_at as "end_at!", e.all_day as "all_day!: bool", e.status as "status!", e.source as "source!",
                    e.reminders, e.version as "version!", e.created_at as "created_at!", e.updated_at as "updated_at!",
                    e.recurrence, e.series_id as "series_id: _", e.original_start, e.hold_expires_at, e.hold_priority, e.hold_scope,
                    e.hold_set_id as "hold_set_id: _", e.transparent as "transparent!: bool"
                 from (select m.event_id from calendars c left join agents a on a.org_id = c.org_id and a.id = c.agent_id
                        cross join jsonb_each(?4) wanted
                        cross join event_metadata m
                            on m.org_id = ?1 and m.calendar_id = c.id and m.digest = (wanted.value ->> 1)
                     where c.rowid in (select rowid from calendars where org_id = ?1 and id = ?2
                           union all select rowid from calendars where org_id = ?1 and agent_id = ?3) and c.deleted_at is null
                        and (c.agent_id is null or a.status <> 'decommissioned')
                     group by m.event_id having count(distinct wanted.value ->> 0) = ?5) matching
                    cross join events e on e.org_id = ?1 and e.id = matching.event_id
                 where e.deleted_at is null and e.series_id is null and e.start_at >= ?6 and e.start_at < ?7
                    and (?8 is null or case when e.status = 'hold' and e.hold_expires_at <= ?9 then 'cancelled' else e.status end = ?8)
                    and (?10 is null or e.source = ?10)
                 order by e.start_at, e.id limit ?11 offset ?12"#,
                org_id,
                calendar,
                agent,
                pairs,
                wanted.count,
                filter.from,
                filter.to,
                filter.status,
                filter.now,
                filter.source,
                page.limit,
                page.offset
            )
            .fetch(&mut *snapshot);
            let RowsWithin { rows: data, fetched } =
                rows_within(rows, |row| sealed_weight(&row.content), PAGE_BYTES_MAX).await.map_err(store_error)?;
            let total = match page.total_if_known(fetched) {
                Some(total) => total,
                None => sqlx::query_scalar!(
                    "select count(*)
                     from (select m.event_id from calendars c left join agents a on a.org_id = c.org_id and a.id = c.agent_id
                            cross join jsonb_each(?4) wanted
                            cross join event_metadata m
                                on m.org_id = ?1 and m.calendar_id = c.id and m.digest = (wanted.value ->> 1)
                         where c.rowid in (select rowid from calendars where org_id = ?1 and id = ?2
                               union all select rowid from calendars where org_id = ?1 and agent_id = ?3) and c.deleted_at is null
                            and (c.agent_id is null or a.status <> 'decommissioned')
                         group by m.event_id having count(distinct wanted.value ->> 0) = ?5) matching
                        cross join events e on e.org_id = ?1 and e.id = matching.event_id
                     where e.deleted_at is null and e.series_id is null and e.start_at >= ?6 and e.start_at < ?7
                        and (?8 is null or case when e.status = 'hold' and e.hold_expires_at <= ?9 then 'cancelled' else e.status end = ?8)
                        and (?10 is null or e.source = ?10)",
                    org_id,
                    calendar,
                    agent,
                    pairs,
                    wanted.count,
                    filter.from,
                    filter.to,
                    filter.status,
                    filter.now,
                    filter.source
                )
                .fetch_one(&mut *snapshot)
                .await
                .map(count)
                .map_err(store_error)?,
            };
            Ok(Listed { data, total })
        })
        .await
    }
}
