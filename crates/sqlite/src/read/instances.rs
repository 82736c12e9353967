//! Visible series, their overrides and their instances.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use kalends_calendars::{
    Candidates, ContextEvents, Entry, Event, EventSource, INSTANCES_MAX, Occurrence, RECENT_MAX, Repeating,
    SearchPosition, SingleInstance, page_of_instances,
    ports::{BlockingSeries, InstanceFilter, InstanceScope, Instances, LONG, SearchFilter},
};
use kalends_kernel::{CalendarId, EventId, Listed, OrgId, Page, Revision, StoreError};
use kalends_rows::WantedMetadata;
use kalends_time::{Span, Timestamp};
use sqlx::SqliteConnection;

use super::{event_metadata::events_with, event_pack::unpacked, filter::listed_ids};
use crate::{
    SqliteStore,
    error::store_error,
    json::{self, Hex},
    rows::{EventRow, Located, RepeatingRow, row_id},
};

#[async_trait]
impl Instances for SqliteStore {
    async fn find_override(&self, org: OrgId, occurrence: Occurrence) -> Result<Option<Event>, StoreError> {
        let (org_id, series, start) = (org.uuid(), occurrence.series.uuid(), occurrence.start.as_micros());
        let found = sqlx::query_as!(
            EventRow,
            "select e.id, e.calendar_id, e.content, e.start_at, e.end_at, e.all_day, e.status, e.source, e.reminders,
                e.version, e.created_at, e.updated_at, e.recurrence, e.series_id, e.original_start,
                e.hold_expires_at, e.hold_priority, e.hold_scope, e.hold_set_id, e.transparent
             from events e
                join calendars c on c.org_id = e.org_id and c.id = e.calendar_id
                left join agents a on a.org_id = c.org_id and a.id = c.agent_id
             where e.org_id = ?1 and e.series_id = ?2 and e.original_start = ?3 and e.deleted_at is null
                and c.deleted_at is null and (c.agent_id is null or a.status <> 'decommissioned')",
            org_id,
            series,
            start
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?;
        found.map(|row| row.open(org, self.cipher.as_ref())).transpose()
    }

    async fn list_overrides(&self, org: OrgId, series: EventId) -> Result<Vec<Event>, StoreError> {
        let (org_id, series) = (org.uuid(), series.uuid());
        let found = sqlx::query_as!(
            EventRow,
            "select e.id, e.calendar_id, e.content, e.start_at, e.end_at, e.all_day, e.status, e.source, e.reminders,
                e.version, e.created_at, e.updated_at, e.recurrence, e.series_id, e.original_start,
                e.hold_expires_at, e.hold_priority, e.hold_scope, e.hold_set_id, e.transparent
             from events e
                join calendars c on c.org_id = e.org_id and c.id = e.calendar_id
                left join agents a on a.org_id = c.org_id and a.id = c.agent_id
             where e.org_id = ?1 and e.series_id = ?2 and e.deleted_at is null
                and c.deleted_at is null and (c.agent_id is null or a.status <> 'decommissioned')
             order by e.original_start",
            org_id,
            series
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        self.read_events(org, found)
    }

    async fn list_instances(
        &self,
        org: OrgId,
        scope: InstanceScope<'_>,
        filter: InstanceFilter,
        page: Page,
    ) -> Result<Option<Listed<Event>>, StoreError> {
        let found = self
            .snapshot(async |snapshot| {
                let mut repeating = series_in(snapshot, org, scope, &filter).await?;
                let mut single_events = single_events_in(snapshot, org, scope, &filter).await?;
                if let Some(wanted) = WantedMetadata::of(org, &filter.metadata, self.cipher.as_ref()) {
                    let matching = events_with(snapshot, org, scope, &wanted).await?;
                    repeating.retain(|series| matching.contains(&series.id));
                    single_events.retain(|single| matching.contains(&single.id));
                }
                let Some(listed) = page_of_instances(&repeating, &single_events, filter.window, page) else {
                    return Ok(None);
                };
                let rows = rows_of(snapshot, org, &listed.data).await?;
                Ok(Some((listed, rows)))
            })
            .await?;
        let Some((Listed { data, total }, rows)) = found else { return Ok(None) };
        let rows = self.read_events(org, rows)?.into_iter().map(|event| (event.id, event)).collect();
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
        let org_id = org.uuid();
        let distinct: BTreeSet<CalendarId> = calendars.iter().copied().collect();
        let distinct: Vec<Hex> = distinct.into_iter().map(|calendar| Hex(calendar.uuid())).collect();
        let distinct = json::rows(&distinct).map_err(store_error)?;
        let (from, to) = (window.start().as_micros(), window.end().as_micros());
        let found = sqlx::query!(
            r#"select c.id as "calendar_id", c.revision, e.id as "id?", e.start_at as "start_at?", e.end_at as "end_at?",
                e.all_day as "all_day?: bool", e.recurrence as "recurrence?"
             from json_each(?2) asked
                cross join calendars c on c.org_id = ?1 and c.id = unhex(asked.value)
                left join agents a on a.org_id = c.org_id and a.id = c.agent_id
                left join events e on e.org_id = ?1 and e.calendar_id = c.id and e.recurrence is not null
                    and e.deleted_at is null and e.reaches > ?3 and e.start_at < ?4
                    and e.status in ('confirmed', 'tentative') and not e.transparent
             where c.deleted_at is null and (c.agent_id is null or a.status <> 'decommissioned')"#,
            org_id,
            distinct,
            from,
            to
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        let mut of: BTreeMap<CalendarId, BlockingSeries> = BTreeMap::new();
        for row in found {
            let calendar = CalendarId::from_uuid(row_id("calendars", "id", &row.calendar_id)?);
            let revision = Revision(row.revision);
            let blocking =
                of.entry(calendar).or_insert_with(|| BlockingSeries { calendar, revision, series: Vec::new() });
            if let (Some(id), Some(start_at), Some(end_at), Some(all_day), Some(recurrence)) =
                (row.id, row.start_at, row.end_at, row.all_day, row.recurrence)
            {
                let calendar_id = &row.calendar_id;
                let row =
                    RepeatingRow { id: &id, calendar_id, start_at, end_at, all_day, recurrence: recurrence.as_str() };
                blocking.series.push(row.into_domain()?);
            }
        }
        Ok(of.into_values().collect())
    }
}

impl SqliteStore {
    /// The context of a calendar whose events and series around `now` have been read.
    pub(super) fn context_of(
        &self,
        org: OrgId,
        single_events: &[Event],
        series: Vec<EventRow>,
        now: Timestamp,
    ) -> Result<ContextEvents, StoreError> {
        let repeating = series.iter().map(EventRow::repeating).collect::<Result<Vec<_>, _>>()?;
        let rows: BTreeMap<EventId, EventRow> =
            repeating.iter().zip(series).map(|(series, row)| (series.id, row)).collect();
        ContextEvents::around(single_events, &repeating, now, |id| {
            rows.get(&id).map(|row| row.clone().open(org, self.cipher.as_ref())).transpose()
        })
    }
}

/// The series of a calendar that may have instances around `now`: those that have not ended, and those that ended
/// last.
pub(super) async fn series_around(
    snapshot: &mut SqliteConnection,
    org: OrgId,
    calendar: CalendarId,
    now: Timestamp,
) -> Result<Vec<EventRow>, StoreError> {
    let (org_id, calendar_id, now) = (org.uuid(), calendar.uuid(), now.as_micros());
    let mut series = sqlx::query_as!(
        EventRow,
        "select id, calendar_id, content, start_at, end_at, all_day, status, source, reminders, version,
            created_at, updated_at, recurrence, series_id, original_start,
            hold_expires_at, hold_priority, hold_scope, hold_set_id, transparent
         from events
         where org_id = ?1 and calendar_id = ?2 and deleted_at is null and recurrence is not null
            and status <> 'cancelled' and reaches > ?3",
        org_id,
        calendar_id,
        now
    )
    .fetch_all(&mut *snapshot)
    .await
    .map_err(store_error)?;
    let ended = sqlx::query_as!(
        EventRow,
        "select id, calendar_id, content, start_at, end_at, all_day, status, source, reminders, version,
            created_at, updated_at, recurrence, series_id, original_start,
            hold_expires_at, hold_priority, hold_scope, hold_set_id, transparent
         from events
         where org_id = ?1 and calendar_id = ?2 and deleted_at is null and recurrence is not null
            and status <> 'cancelled' and reaches <= ?3
         order by reaches desc limit ?4",
        org_id,
        calendar_id,
        now,
        RECENT_MAX
    )
    .fetch_all(snapshot)
    .await
    .map_err(store_error)?;
    series.extend(ended);
    Ok(series)
}

async fn series_in(
    snapshot: &mut SqliteConnection,
    org: OrgId,
    scope: InstanceScope<'_>,
    filter: &InstanceFilter,
) -> Result<Vec<Repeating>, StoreError> {
    let (org_id, (calendars, agent)) = (org.uuid(), listed_ids(scope)?);
    let (from, to) = (filter.window.start().as_micros(), filter.window.end().as_micros());
    let (status, source) = (filter.status.map(|at| at.status.as_str()), filter.source.map(EventSource::as_str));
    let found = sqlx::query!(
        r#"select e.id as "id!: Vec<u8>", e.calendar_id as "calendar_id!: Vec<u8>", e.start_at as "start_at!: i64",
            e.end_at as "end_at!: i64", e.all_day as "all_day!: bool", e.recurrence as "recurrence!: String"
         from calendars c left join agents a on a.org_id = c.org_id and a.id = c.agent_id
            cross join events e on e.org_id = ?1 and e.calendar_id = c.id
         where c.org_id = ?1 and c.id in (select unhex(value) from json_each(?2)
               union all select id from calendars where org_id = ?1 and agent_id = ?3) and c.deleted_at is null
            and (c.agent_id is null or a.status <> 'decommissioned')
            and e.recurrence is not null and e.deleted_at is null and e.reaches > ?4 and e.start_at < ?5
            and (?6 is null or e.status = ?6) and (?7 is null or e.source = ?7)"#,
        org_id,
        calendars,
        agent,
        from,
        to,
        status,
        source
    )
    .fetch_all(snapshot)
    .await
    .map_err(store_error)?;
    let read = found.iter().map(|row| {
        let (start_at, end_at, all_day, recurrence) = (row.start_at, row.end_at, row.all_day, row.recurrence.as_str());
        RepeatingRow { id: &row.id, calendar_id: &row.calendar_id, start_at, end_at, all_day, recurrence }.into_domain()
    });
    read.collect()
}

/// An identifier, a start, the identifier of a series and the start of an occurrence of it. Identifiers are hexadecimal
/// digits, none for NULL.
type PackedSingle<'a> = (&'a str, i64, &'a str, Option<i64>);

/// One-off events and overrides that overlap the window, cut off at the limit of a list.
async fn single_events_in(
    snapshot: &mut SqliteConnection,
    org: OrgId,
    scope: InstanceScope<'_>,
    filter: &InstanceFilter,
) -> Result<Vec<SingleInstance>, StoreError> {
    let (org_id, (calendars, agent)) = (org.uuid(), listed_ids(scope)?);
    let (from, to) = (filter.window.start().as_micros(), filter.window.end().as_micros());
    let before = (filter.window.start() - LONG).as_micros();
    let (status, source) = (filter.status.map(|at| at.status.as_str()), filter.source.map(EventSource::as_str));
    let now = filter.status.map(|at| at.now.as_micros());
    let limit = i64::try_from(INSTANCES_MAX).unwrap_or(i64::MAX).saturating_add(1);
    let pack = sqlx::query_scalar!(
        r#"with listed as materialized (
            select c.id from calendars c left join agents a on a.org_id = c.org_id and a.id = c.agent_id
            where c.org_id = ?1 and c.id in (select unhex(value) from json_each(?2)
                  union all select id from calendars where org_id = ?1 and agent_id = ?3) and c.deleted_at is null
               and (c.agent_id is null or a.status <> 'decommissioned')
         )
         select json_group_array(json_array(hex(id), start_at, hex(series_id), original_start)) as "pack!: String"
         from (
         select e.id as id, e.start_at as start_at, e.series_id as series_id, e.original_start as original_start
         from listed cross join events e on e.org_id = ?1 and e.calendar_id = listed.id
         where e.recurrence is null and e.deleted_at is null
            and e.start_at > ?8 and e.start_at < ?5 and e.end_at > ?4 and +e.end_at - e.start_at <= 86400000000
            and (?6 is null or case when e.status = 'hold' and e.hold_expires_at <= ?10 then 'cancelled' else e.status end = ?6) and (?7 is null or e.source = ?7)
         union all
         select e.id, e.start_at, e.series_id, e.original_start
         from listed cross join events e on e.org_id = ?1 and e.calendar_id = listed.id
         where e.recurrence is null and e.deleted_at is null
            and e.end_at - e.start_at > 86400000000 and e.end_at > ?4 and +e.start_at < ?5
            and (?6 is null or case when e.status = 'hold' and e.hold_expires_at <= ?10 then 'cancelled' else e.status end = ?6) and (?7 is null or e.source = ?7)
         limit ?9
         )"#,
        org_id,
        calendars,
        agent,
        from,
        to,
        status,
        source,
        before,
        limit,
        now
    )
    .fetch_one(snapshot)
    .await
    .map_err(store_error)?;
    let rows: Vec<PackedSingle<'_>> = json::packed(&pack).map_err(store_error)?;
    let read = rows.into_iter().map(|(id, start_at, series_id, original_start)| {
        let id = EventId::from_uuid(row_id("events", "id", id)?);
        let located = Located { table: "events", id: &id };
        let occurrence = match original_start {
            Some(start) if !series_id.is_empty() => Some(Occurrence {
                series: EventId::from_uuid(located.uuid("series_id", series_id)?),
                start: Timestamp::from_micros(start),
            }),
            _ => None,
        };
        Ok(SingleInstance { id, start: Timestamp::from_micros(start_at), occurrence })
    });
    read.collect()
}

/// The rows of the events that the entries show.
async fn rows_of(snapshot: &mut SqliteConnection, org: OrgId, entries: &[Entry]) -> Result<Vec<EventRow>, StoreError> {
    let org_id = org.uuid();
    let distinct: BTreeSet<EventId> = entries.iter().map(Entry::row).collect();
    let distinct: Vec<Hex> = distinct.into_iter().map(|id| Hex(id.uuid())).collect();
    let distinct = json::rows(&distinct).map_err(store_error)?;
    let pack = sqlx::query_scalar!(
        r#"select json_group_array(json_array(hex(e.id), hex(e.calendar_id), e.content, e.start_at, e.end_at, e.all_day,
            e.status, e.source, e.reminders, e.version, e.created_at, e.updated_at, e.recurrence, hex(e.series_id),
            e.original_start, e.hold_expires_at, e.hold_priority, e.hold_scope, hex(e.hold_set_id),
            e.transparent)) as "pack!: String"
         from json_each(?2) asked cross join events e on e.org_id = ?1 and e.id = unhex(asked.value)"#,
        org_id,
        distinct
    )
    .fetch_one(snapshot)
    .await
    .map_err(store_error)?;
    unpacked(&pack)
}
