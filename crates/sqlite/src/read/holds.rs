//! Visible holds.

use async_trait::async_trait;
use kalends_calendars::{
    HoldSet, Reservation, ReservationOwner,
    ports::{CalendarHolds, HoldSetFilter, Holds, LiveHold, OwnedEvent},
};
use kalends_kernel::{AgentId, CalendarId, HoldSetId, Listed, OrgId, PAGE_BYTES_MAX, Page, Revision, StoreError};
use kalends_time::{Span, Timestamp};
use kalends_warm_pool::{RowsWithin, rows_within, sealed_weight};

use super::{count, owner};
use crate::{
    SqliteStore,
    error::store_error,
    rows::{EventRow, Located, event_row, live_hold, publication, row_id},
};

#[async_trait]
impl Holds for SqliteStore {
    async fn holds_within(
        &self,
        org: OrgId,
        calendar: CalendarId,
        window: Span,
    ) -> Result<Option<CalendarHolds>, StoreError> {
        let (org_id, id) = (org.uuid(), calendar.uuid());
        let (from, to) = (window.start().as_micros(), window.end().as_micros());
        let found = self
            .snapshot(async |snapshot| {
                let revision = sqlx::query_scalar!(
                    "select c.revision from calendars c left join agents a on a.org_id = c.org_id and a.id = c.agent_id
                     where c.org_id = ?1 and c.id = ?2 and c.deleted_at is null
                        and (c.agent_id is null or a.status <> 'decommissioned')",
                    org_id,
                    id
                )
                .fetch_optional(&mut *snapshot)
                .await
                .map_err(store_error)?;
                let Some(revision) = revision else { return Ok(None) };
                let rows = sqlx::query_as!(
                    EventRow,
                    "select id, calendar_id, content, start_at, end_at, all_day, status, source, reminders, version,
                        created_at, updated_at, recurrence, series_id, original_start,
                        hold_expires_at, hold_priority, hold_scope, hold_set_id, transparent
                     from events indexed by events_holds
                     where org_id = ?1 and calendar_id = ?2 and status = 'hold' and deleted_at is null
                        and start_at < ?4 and end_at > ?3",
                    org_id,
                    id,
                    from,
                    to
                )
                .fetch_all(&mut *snapshot)
                .await
                .map_err(store_error)?;
                let reserved = sqlx::query!(
                    "select proposal_id, start_at, end_at, expires_at from reservations
                     where org_id = ?1 and calendar_id = ?2 and start_at < ?4 and end_at > ?3",
                    org_id,
                    id,
                    from,
                    to
                )
                .fetch_all(&mut *snapshot)
                .await
                .map_err(store_error)?;
                let reserved = reserved.into_iter().map(|row| {
                    let owner = ReservationOwner::from_uuid(row_id("reservations", "proposal_id", &row.proposal_id)?);
                    let of = Located { table: "reservations", id: owner.uuid() };
                    let (start, end) = (Timestamp::from_micros(row.start_at), Timestamp::from_micros(row.end_at));
                    let span = of.read("end_at", Span::new(start, end))?;
                    Ok(Reservation { owner, span, expires_at: Timestamp::from_micros(row.expires_at) })
                });
                Ok(Some((revision, rows, reserved.collect::<Result<Vec<_>, StoreError>>()?)))
            })
            .await?;
        let Some((revision, rows, reserved)) = found else { return Ok(None) };
        Ok(Some(CalendarHolds { revision: Revision(revision), holds: self.read_events(org, rows)?, reserved }))
    }

    async fn live_holds(&self, org: OrgId, now: Timestamp, limit: u32) -> Result<Vec<LiveHold>, StoreError> {
        let (org_id, now) = (org.uuid(), now.as_micros());
        let found = sqlx::query!(
            r#"select e.id as "id!", e.calendar_id as "calendar_id!", e.content as "content!",
                e.start_at as "start_at!", e.end_at as "end_at!", e.all_day as "all_day!: bool",
                e.status as "status!", e.source as "source!", e.reminders, e.version as "version!",
                e.created_at as "created_at!", e.updated_at as "updated_at!", e.recurrence, e.series_id,
                e.original_start, e.hold_expires_at as "hold_expires_at?", e.hold_priority, e.hold_scope,
                e.hold_set_id, e.transparent as "transparent!: bool",
                c.name as "calendar_name!", c.timezone as "timezone!"
             from events e indexed by events_holds_of_org
                cross join calendars c on c.org_id = e.org_id and c.id = e.calendar_id
                left join agents a on a.org_id = c.org_id and a.id = c.agent_id
             where e.org_id = ?1 and e.status = 'hold' and e.deleted_at is null and e.hold_expires_at > ?2
                and c.deleted_at is null and (c.agent_id is null or a.status <> 'decommissioned')
             order by e.hold_expires_at, e.id limit ?3"#,
            org_id,
            now,
            limit
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        let read = found
            .into_iter()
            .map(|row| live_hold(event_row!(row).open(org, self.cipher.as_ref())?, row.calendar_name, &row.timezone));
        read.collect()
    }

    async fn events_of_hold_set(&self, org: OrgId, set: HoldSetId) -> Result<Vec<OwnedEvent>, StoreError> {
        let (org_id, set) = (org.uuid(), set.uuid());
        let found = sqlx::query!(
            "select e.id, e.calendar_id, e.content, e.start_at, e.end_at, e.all_day, e.status, e.source, e.reminders,
                e.version, e.created_at, e.updated_at, e.recurrence, e.series_id, e.original_start,
                e.hold_expires_at, e.hold_priority, e.hold_scope, e.hold_set_id, e.transparent, c.agent_id,
                c.timezone, c.publication_policy
             from events e
                join calendars c on c.org_id = e.org_id and c.id = e.calendar_id
                left join agents a on a.org_id = c.org_id and a.id = c.agent_id
             where e.org_id = ?1 and e.hold_set_id = ?2 and e.deleted_at is null and c.deleted_at is null
                and (c.agent_id is null or a.status <> 'decommissioned')
             order by e.id",
            org_id,
            set
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        let read = found.into_iter().map(|found| {
            let row = event_row!(found);
            let event = row.open(org, self.cipher.as_ref())?;
            let agent = owner(event.id, found.agent_id.as_ref())?;
            let publication = publication(event.calendar, &found.timezone, found.publication_policy.as_deref())?;
            Ok(OwnedEvent { event, agent, publication })
        });
        read.collect()
    }

    async fn placer_of_hold_set(&self, org: OrgId, set: HoldSetId) -> Result<Option<AgentId>, StoreError> {
        let (org_id, set_id) = (org.uuid(), set.uuid());
        let placer = sqlx::query_scalar!(
            "select placed_by from events where org_id = ?1 and hold_set_id = ?2 and placed_by is not null limit 1",
            org_id,
            set_id
        );
        let placer = placer.fetch_optional(self.readers()).await.map_err(store_error)?.flatten();
        let row = Located { table: "events", id: &set };
        Ok(row.uuid_if_any("placed_by", placer.as_ref())?.map(AgentId::from_uuid))
    }

    async fn count_placed_holds(&self, org: OrgId, agent: AgentId, now: Timestamp) -> Result<u64, StoreError> {
        let (org_id, agent_id, now) = (org.uuid(), agent.uuid(), now.as_micros());
        let placed = sqlx::query_scalar!(
            "select count(*)
             from events e
                join calendars c on c.org_id = e.org_id and c.id = e.calendar_id
                left join agents a on a.org_id = c.org_id and a.id = c.agent_id
             where e.org_id = ?1 and e.placed_by = ?2 and e.status = 'hold' and e.deleted_at is null
                and e.hold_expires_at > ?3 and c.agent_id is not ?2 and c.deleted_at is null
                and (c.agent_id is null or a.status <> 'decommissioned')",
            org_id,
            agent_id,
            now
        );
        placed.fetch_one(self.readers()).await.map(count).map_err(store_error)
    }

    async fn list_hold_sets(
        &self,
        org: OrgId,
        filter: HoldSetFilter,
        page: Page,
    ) -> Result<Listed<HoldSet>, StoreError> {
        let org_id = org.uuid();
        let agent = filter.agent.map(|agent| agent.uuid());
        let (status, now) = filter.status.map(|at| (at.status.as_str(), at.now.as_micros())).unzip();
        let (RowsWithin { rows, fetched }, total) = self
            .snapshot(async |snapshot| {
                let rows = sqlx::query!(
                    r#"with page as materialized (
                        select e.hold_set_id as id, count(*) over () as total
                        from events e
                            join calendars c on c.org_id = e.org_id and c.id = e.calendar_id
                            left join agents a on a.org_id = c.org_id and a.id = c.agent_id
                        where e.org_id = ?1 and e.hold_set_id is not null and e.deleted_at is null
                            and c.deleted_at is null and (c.agent_id is null or a.status <> 'decommissioned')
                        group by e.hold_set_id
                        having (?2 is null or min(c.agent_id is ?2) or (?7 and max(e.placed_by is ?2)))
                            and (?3 is null or max(iif(e.status = 'hold' and e.hold_expires_at <= ?4, 'cancelled',
                                e.status) = ?3))
                        order by e.hold_set_id limit ?5 offset ?6
                     )
                     select e.id, e.calendar_id, e.content, e.start_at, e.end_at, e.all_day, e.status, e.source,
                        e.reminders, e.version, e.created_at, e.updated_at, e.recurrence, e.series_id,
                        e.original_start, e.hold_expires_at, e.hold_priority, e.hold_scope, e.hold_set_id,
                        e.transparent, c.timezone as "timezone!: String",
                        c.publication_policy as "publication_policy?: String", page.total as "total!: i64"
                     from page
                        join events e on e.org_id = ?1 and e.hold_set_id = page.id
                        join calendars c on c.org_id = e.org_id and c.id = e.calendar_id
                        left join agents a on a.org_id = c.org_id and a.id = c.agent_id
                     where e.deleted_at is null and c.deleted_at is null
                        and (c.agent_id is null or a.status <> 'decommissioned')
                     order by page.id, e.id"#,
                    org_id,
                    agent,
                    status,
                    now,
                    page.limit,
                    page.offset,
                    filter.or_placed
                )
                .fetch(&mut *snapshot);
                let found =
                    rows_within(rows, |row| sealed_weight(&row.content), PAGE_BYTES_MAX).await.map_err(store_error)?;
                let total = match (found.rows.first(), page.offset) {
                    (Some(first), _) => first.total,
                    (None, 0) => 0,
                    (None, _) => sqlx::query_scalar!(
                        r#"select count(*) as "count!: i64" from (
                            select 1
                            from events e
                                join calendars c on c.org_id = e.org_id and c.id = e.calendar_id
                                left join agents a on a.org_id = c.org_id and a.id = c.agent_id
                            where e.org_id = ?1 and e.hold_set_id is not null and e.deleted_at is null
                                and c.deleted_at is null and (c.agent_id is null or a.status <> 'decommissioned')
                            group by e.hold_set_id
                            having (?2 is null or min(c.agent_id is ?2) or (?5 and max(e.placed_by is ?2)))
                                and (?3 is null or max(iif(e.status = 'hold' and e.hold_expires_at <= ?4, 'cancelled',
                                    e.status) = ?3))
                         )"#,
                        org_id,
                        agent,
                        status,
                        now,
                        filter.or_placed
                    )
                    .fetch_one(&mut *snapshot)
                    .await
                    .map_err(store_error)?,
                };
                Ok((found, total))
            })
            .await?;
        let complete = rows.len() == fetched;
        let events = rows.into_iter().map(|row| {
            let (timezone, policy) = (row.timezone, row.publication_policy);
            let event = event_row!(row).open(org, self.cipher.as_ref())?;
            let publication = publication(event.calendar, &timezone, policy.as_deref())?;
            Ok((event, publication))
        });
        Ok(Listed { data: HoldSet::group(events.collect::<Result<_, _>>()?, complete), total: count(total) })
    }
}
