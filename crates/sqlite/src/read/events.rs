//! Visible events: not deleted, and on a visible calendar.

use async_trait::async_trait;
use kalends_calendars::{
    ContextEvents, Event, RECENT_MAX, UPCOMING_MAX,
    ports::{EventFilter, EventScope, Events, OwnedEvent},
};
use kalends_kernel::{AgentId, CalendarId, EventId, Listed, OrgId, PAGE_BYTES_MAX, Page, StoreError};
use kalends_rows::WantedMetadata;
use kalends_time::Timestamp;
use kalends_warm_pool::{RowsWithin, rows_within, sealed_weight};

use super::{count, filter::Filter, owner};
use crate::{
    SqliteStore,
    error::store_error,
    json::{self, Hex},
    rows::{EventRow, event_row, publication},
};

#[async_trait]
impl Events for SqliteStore {
    async fn find_event(&self, org: OrgId, id: EventId) -> Result<Option<OwnedEvent>, StoreError> {
        let (org_id, event_id) = (org.uuid(), id.uuid());
        let found = sqlx::query!(
            "select e.id, e.calendar_id, e.content, e.start_at, e.end_at, e.all_day, e.status, e.source, e.reminders,
                e.version, e.created_at, e.updated_at, e.recurrence, e.series_id, e.original_start,
                e.hold_expires_at, e.hold_priority, e.hold_scope, e.hold_set_id, e.transparent, c.agent_id,
                c.timezone, c.publication_policy
             from events e
                join calendars c on c.org_id = e.org_id and c.id = e.calendar_id
                left join agents a on a.org_id = c.org_id and a.id = c.agent_id
             where e.org_id = ?1 and e.id = ?2 and e.deleted_at is null and e.series_id is null and c.deleted_at is null
                and (c.agent_id is null or a.status <> 'decommissioned')",
            org_id,
            event_id
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?;
        let Some(found) = found else { return Ok(None) };
        let agent = owner(id, found.agent_id.as_ref())?;
        let row = event_row!(found);
        let event = row.open(org, self.cipher.as_ref())?;
        let publication = publication(event.calendar, &found.timezone, found.publication_policy.as_deref())?;
        Ok(Some(OwnedEvent { event, agent, publication }))
    }

    async fn events_of(&self, org: OrgId, calendars: &[CalendarId], ids: &[EventId]) -> Result<Vec<Event>, StoreError> {
        let org_id = org.uuid();
        let calendars: Vec<Hex> = calendars.iter().map(|calendar| Hex(calendar.uuid())).collect();
        let calendars = json::rows(&calendars).map_err(store_error)?;
        let wanted: Vec<Hex> = ids.iter().map(|id| Hex(id.uuid())).collect();
        let wanted = json::rows(&wanted).map_err(store_error)?;
        let found = sqlx::query_as!(
            EventRow,
            "select e.id, e.calendar_id, e.content, e.start_at, e.end_at, e.all_day, e.status, e.source, e.reminders,
                e.version, e.created_at, e.updated_at, e.recurrence, e.series_id, e.original_start,
                e.hold_expires_at, e.hold_priority, e.hold_scope, e.hold_set_id, e.transparent
             from json_each(?3) asked
                cross join events e on e.org_id = ?1 and e.id = unhex(asked.value)
                join calendars c on c.org_id = e.org_id and c.id = e.calendar_id
                left join agents a on a.org_id = c.org_id and a.id = c.agent_id
             where e.calendar_id in (select unhex(value) from json_each(?2)) and e.deleted_at is null
                and c.deleted_at is null and (c.agent_id is null or a.status <> 'decommissioned')",
            org_id,
            calendars,
            wanted
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        self.read_events(org, found)
    }

    async fn list_events(
        &self,
        org: OrgId,
        scope: EventScope,
        filter: EventFilter,
        page: Page,
    ) -> Result<Listed<Event>, StoreError> {
        let wanted = WantedMetadata::of(org, &filter.metadata, self.cipher.as_ref());
        let filter = Filter::from(&filter);
        let Listed { data, total } = match (scope, wanted) {
            (_, Some(wanted)) => self.events_by_metadata(org, scope, filter, &wanted, page).await?,
            (EventScope::Calendar(calendar), None) => self.events_of_calendar(org, calendar, filter, page).await?,
            (EventScope::Agent(agent), None) => self.events_of_agent(org, agent, filter, page).await?,
        };
        Ok(Listed { data: self.read_events(org, data)?, total })
    }

    async fn context_events(
        &self,
        org: OrgId,
        calendar: CalendarId,
        now: Timestamp,
    ) -> Result<ContextEvents, StoreError> {
        let (org_id, calendar_id, at) = (org.uuid(), calendar.uuid(), now.as_micros());
        let found = self
            .snapshot(async |snapshot| {
                let visible = sqlx::query_scalar!(
                    "select count(*) from calendars c left join agents a on a.org_id = c.org_id and a.id = c.agent_id
             where c.org_id = ?1 and c.id = ?2 and c.deleted_at is null
                and (c.agent_id is null or a.status <> 'decommissioned')",
                    org_id,
                    calendar_id
                )
                .fetch_one(&mut *snapshot)
                .await
                .map_err(store_error)?;
                if visible == 0 {
                    return Ok(None);
                }
                // The plus keeps SQLite from using the index on starts, which would scan all past events.
                let current = sqlx::query_as!(
                    EventRow,
                    "select id, calendar_id, content, start_at, end_at, all_day, status, source, reminders, version,
                created_at, updated_at, recurrence, series_id, original_start,
                hold_expires_at, hold_priority, hold_scope, hold_set_id, transparent
             from events
             where org_id = ?1 and calendar_id = ?2 and deleted_at is null and status <> 'cancelled'
                and recurrence is null and (hold_expires_at is null or hold_expires_at > ?3)
                and end_at > ?3 and +start_at <= ?3
             order by start_at desc, id desc limit 1",
                    org_id,
                    calendar_id,
                    at
                )
                .fetch_all(&mut *snapshot)
                .await
                .map_err(store_error)?;
                let recent = sqlx::query_as!(
                    EventRow,
                    "select id, calendar_id, content, start_at, end_at, all_day, status, source, reminders, version,
                created_at, updated_at, recurrence, series_id, original_start,
                hold_expires_at, hold_priority, hold_scope, hold_set_id, transparent
             from events
             where org_id = ?1 and calendar_id = ?2 and deleted_at is null and status <> 'cancelled'
                and recurrence is null and (hold_expires_at is null or hold_expires_at > ?3)
                and end_at <= ?3
             order by end_at desc, id desc limit ?4",
                    org_id,
                    calendar_id,
                    at,
                    RECENT_MAX
                )
                .fetch_all(&mut *snapshot)
                .await
                .map_err(store_error)?;
                let following = sqlx::query_as!(
                    EventRow,
                    "select id, calendar_id, content, start_at, end_at, all_day, status, source, reminders, version,
                created_at, updated_at, recurrence, series_id, original_start,
                hold_expires_at, hold_priority, hold_scope, hold_set_id, transparent
             from events
             where org_id = ?1 and calendar_id = ?2 and deleted_at is null and status <> 'cancelled'
                and recurrence is null and (hold_expires_at is null or hold_expires_at > ?3)
                and start_at > ?3
             order by start_at, id limit ?4",
                    org_id,
                    calendar_id,
                    at,
                    UPCOMING_MAX
                )
                .fetch_all(&mut *snapshot)
                .await
                .map_err(store_error)?;
                let series = super::instances::series_around(snapshot, org, calendar, now).await?;
                Ok(Some((current, recent, following, series)))
            })
            .await?;
        let Some((current, recent, following, series)) = found else { return Ok(ContextEvents::default()) };
        let single_events = self.read_events(org, [current, recent, following].concat())?;
        self.context_of(org, &single_events, series, now)
    }
}

impl SqliteStore {
    pub(super) fn read_events(&self, org: OrgId, rows: Vec<EventRow>) -> Result<Vec<Event>, StoreError> {
        rows.into_iter().map(|row| row.open(org, self.cipher.as_ref())).collect()
    }

    async fn events_of_calendar(
        &self,
        org: OrgId,
        calendar: CalendarId,
        filter: Filter,
        page: Page,
    ) -> Result<Listed<EventRow>, StoreError> {
        let (org_id, calendar_id) = (org.uuid(), calendar.uuid());
        self.snapshot(async |snapshot| {
            let rows = sqlx::query_as!(
                EventRow,
                "select id, calendar_id, content, start_at, end_at, all_day, status, source, reminders, version,
                created_at, updated_at, recurrence, series_id, original_start,
                hold_expires_at, hold_priority, hold_scope, hold_set_id, transparent
             from events
             where org_id = ?1 and calendar_id = ?2 and deleted_at is null and series_id is null
                and start_at >= ?3 and start_at < ?4 and (?5 is null or case when status = 'hold' and hold_expires_at <= ?9 then 'cancelled' else status end = ?5) and (?6 is null or source = ?6)
                and exists (select 1 from calendars c left join agents a on a.org_id = c.org_id and a.id = c.agent_id
                    where c.org_id = ?1 and c.id = ?2 and c.deleted_at is null
                        and (c.agent_id is null or a.status <> 'decommissioned'))
             order by start_at, id limit ?7 offset ?8",
                org_id,
                calendar_id,
                filter.from,
                filter.to,
                filter.status,
                filter.source,
                page.limit,
                page.offset,
                filter.now
            )
            .fetch(&mut *snapshot);
            let RowsWithin { rows: data, fetched } =
                rows_within(rows, |row| sealed_weight(&row.content), PAGE_BYTES_MAX).await.map_err(store_error)?;
            let total = match page.total_if_known(fetched) {
                Some(total) => total,
                None => sqlx::query_scalar!(
                    "select count(*) from events
                 where org_id = ?1 and calendar_id = ?2 and deleted_at is null and series_id is null
                    and start_at >= ?3 and start_at < ?4
                    and (?5 is null or case when status = 'hold' and hold_expires_at <= ?7 then 'cancelled' else status end = ?5) and (?6 is null or source = ?6)
                    and exists (select 1 from calendars c
                        left join agents a on a.org_id = c.org_id and a.id = c.agent_id
                        where c.org_id = ?1 and c.id = ?2 and c.deleted_at is null
                            and (c.agent_id is null or a.status <> 'decommissioned'))",
                    org_id,
                    calendar_id,
                    filter.from,
                    filter.to,
                    filter.status,
                    filter.source,
                    filter.now
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

    async fn events_of_agent(
        &self,
        org: OrgId,
        agent: AgentId,
        filter: Filter,
        page: Page,
    ) -> Result<Listed<EventRow>, StoreError> {
        let (org_id, agent_id) = (org.uuid(), agent.uuid());
        self.snapshot(async |snapshot| {
            // The page is chosen from the index on starts alone; only its rows are read.
            let rows = sqlx::query_as!(
            EventRow,
            "select e.id, e.calendar_id, e.content, e.start_at, e.end_at, e.all_day, e.status, e.source, e.reminders,
                e.version, e.created_at, e.updated_at, e.recurrence, e.series_id, e.original_start,
                e.hold_expires_at, e.hold_priority, e.hold_scope, e.hold_set_id, e.transparent
             from (select o.rowid as place, o.start_at, o.id
                    from calendars c cross join events o on o.org_id = ?1 and o.calendar_id = c.id
                    where c.org_id = ?1 and c.agent_id = ?2 and c.deleted_at is null and o.deleted_at is null
                        and o.series_id is null and o.start_at >= ?3 and o.start_at < ?4
                        and (?5 is null or case when o.status = 'hold' and o.hold_expires_at <= ?9 then 'cancelled' else o.status end = ?5) and (?6 is null or o.source = ?6)
                        and exists (select 1 from agents a
                            where a.org_id = ?1 and a.id = ?2 and a.status <> 'decommissioned')
                    order by o.start_at, o.id limit ?7 offset ?8) page
                cross join events e on e.rowid = page.place
             order by page.start_at, page.id",
            org_id,
            agent_id,
            filter.from,
            filter.to,
            filter.status,
            filter.source,
            page.limit,
            page.offset,
            filter.now
        )
            .fetch(&mut *snapshot);
            let RowsWithin { rows: data, fetched } =
                rows_within(rows, |row| sealed_weight(&row.content), PAGE_BYTES_MAX).await.map_err(store_error)?;
            let total = match page.total_if_known(fetched) {
                Some(total) => total,
                None => sqlx::query_scalar!(
                    "select count(*) from calendars c cross join events o on o.org_id = ?1 and o.calendar_id = c.id
                 where c.org_id = ?1 and c.agent_id = ?2 and c.deleted_at is null and o.deleted_at is null
                    and o.series_id is null and o.start_at >= ?3 and o.start_at < ?4
                    and (?5 is null or case when o.status = 'hold' and o.hold_expires_at <= ?7 then 'cancelled' else o.status end = ?5) and (?6 is null or o.source = ?6)
                    and exists (select 1 from agents a
                        where a.org_id = ?1 and a.id = ?2 and a.status <> 'decommissioned')",
                    org_id,
                    agent_id,
                    filter.from,
                    filter.to,
                    filter.status,
                    filter.source,
                    filter.now
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
