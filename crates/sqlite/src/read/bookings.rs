//! Reads booking pages and bookings.

use async_trait::async_trait;
use kalends_bookings::{
    Booking, BookingFilter, BookingNow, BookingPage, BookingsOf, SecretHash, SharedEvent,
    ports::{BookingPages, FoundPage, Shares},
};
use kalends_calendars::ports::BusySource;
use kalends_kernel::{
    AgentId, BookingId, BookingPageId, CalendarId, EventId, Listed, OrgId, Page, Revision, StoreError,
};
use kalends_plans::{Metric, Used};
use kalends_quotas::Period;
use kalends_time::{Span, Timestamp};

use super::count;
use crate::{
    SqliteStore,
    error::store_error,
    json::{self, Hex},
    rows::{
        BookedEventRow, BookingPageRow, BookingRow, SharedEventRow, booking_page_row, booking_row, limits, row_id,
        team_sources, total_of,
    },
};

#[async_trait]
impl BookingPages for SqliteStore {
    async fn find_booking_page(&self, org: OrgId, page: BookingPageId) -> Result<Option<BookingPage>, StoreError> {
        let (org_id, id) = (org.uuid(), page.uuid());
        sqlx::query_as!(
            BookingPageRow,
            "select p.org_id, p.id, p.calendar_id, p.agent_id, p.content, p.duration_minutes, p.buffer_minutes, p.window_days,
                p.min_notice_minutes, p.timezone, p.constraints, p.team, p.active, p.bookings, p.version, p.created_at, p.updated_at,
                p.deleted_at
             from booking_pages p
                join calendars c on c.org_id = p.org_id and c.id = p.calendar_id
                left join agents a on a.org_id = c.org_id and a.id = c.agent_id
             where p.org_id = ?1 and p.id = ?2 and p.deleted_at is null and c.deleted_at is null
                and (c.agent_id is null or a.status <> 'decommissioned')",
            org_id,
            id
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?
        .map(|row| row.open(self.cipher.as_ref()))
        .transpose()
    }

    async fn list_booking_pages(
        &self,
        org: OrgId,
        agent: Option<AgentId>,
        page: Page,
    ) -> Result<Listed<BookingPage>, StoreError> {
        let (org_id, agent_id) = (org.uuid(), agent.map(|agent| agent.uuid()));
        // A plan caps the number of pages, so counting them all is cheap.
        let rows = sqlx::query!(
            r#"select p.org_id as "org_id!: Vec<u8>", p.id as "id!: Vec<u8>", p.calendar_id as "calendar_id!: Vec<u8>",
                p.agent_id as "agent_id?: Vec<u8>", p.content as "content!: String",
                p.duration_minutes as "duration_minutes!: i64", p.buffer_minutes as "buffer_minutes!: i64",
                p.window_days as "window_days!: i64", p.min_notice_minutes as "min_notice_minutes!: i64",
                p.timezone as "timezone!: String", p.constraints as "constraints?: String", p.team as "team?: String",
                p.active as "active!: bool", p.bookings as "bookings!: i64", p.version as "version!: i64",
                p.created_at as "created_at!: i64", p.updated_at as "updated_at!: i64",
                p.deleted_at as "deleted_at?: i64",
                (select count(*)
                 from booking_pages p
                    join calendars c on c.org_id = p.org_id and c.id = p.calendar_id
                    left join agents a on a.org_id = c.org_id and a.id = c.agent_id
                 where p.org_id = ?1 and (?2 is null or p.agent_id = ?2) and p.deleted_at is null
                    and c.deleted_at is null and (c.agent_id is null or a.status <> 'decommissioned')) as "total!: i64"
             from booking_pages p
                join calendars c on c.org_id = p.org_id and c.id = p.calendar_id
                left join agents a on a.org_id = c.org_id and a.id = c.agent_id
             where p.org_id = ?1 and (?2 is null or p.agent_id = ?2) and p.deleted_at is null
                and c.deleted_at is null and (c.agent_id is null or a.status <> 'decommissioned')
             order by p.created_at, p.id limit ?3 offset ?4"#,
            org_id,
            agent_id,
            page.limit,
            page.offset
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        let counted = rows.first().map(|row| row.total);
        let count = async {
            let count = sqlx::query_scalar!(
                "select count(*)
                 from booking_pages p
                    join calendars c on c.org_id = p.org_id and c.id = p.calendar_id
                    left join agents a on a.org_id = c.org_id and a.id = c.agent_id
                 where p.org_id = ?1 and (?2 is null or p.agent_id = ?2) and p.deleted_at is null
                    and c.deleted_at is null and (c.agent_id is null or a.status <> 'decommissioned')",
                org_id,
                agent_id
            );
            count.fetch_one(self.readers()).await.map_err(store_error)
        };
        let total = total_of(rows.len(), page, counted, count).await?;
        let pages = rows.into_iter().map(|row| booking_page_row!(row).open(self.cipher.as_ref()));
        Ok(Listed { data: pages.collect::<Result<_, _>>()?, total })
    }

    async fn booking_page_of_slug(&self, slug: SecretHash, month: Period) -> Result<Option<FoundPage>, StoreError> {
        let SecretHash(hash) = slug;
        let (hash, month) = (hash.as_slice(), month.number());
        let found = sqlx::query!(
            r#"select p.org_id, p.id, p.calendar_id, p.agent_id, p.content, p.duration_minutes, p.buffer_minutes, p.window_days,
                p.min_notice_minutes, p.timezone, p.constraints, p.team, p.active, p.bookings, p.version, p.created_at, p.updated_at,
                p.deleted_at, c.revision, o.plan, o.limit_overrides, u.used,
                (exists (select 1 from availability_grants g where g.org_id = c.org_id and g.audience = 'all')
                    or exists (select 1 from availability_grant_agents t
                        where t.org_id = c.org_id and t.agent_id = c.agent_id)) as "granted!: bool",
                case when p.team is not null then (
                    select json_group_array(json_array(hex(m.id), hex(m.agent_id), m.revision,
                        exists (select 1 from availability_grants g where g.org_id = m.org_id and g.audience = 'all')
                            or exists (select 1 from availability_grant_agents t
                                where t.org_id = m.org_id and t.agent_id = m.agent_id)))
                    from json_each(p.team, '$.calendars') named
                        cross join calendars m on m.org_id = p.org_id and m.id = unhex(named.value)
                        left join agents l on l.org_id = m.org_id and l.id = m.agent_id
                    where m.deleted_at is null and (m.agent_id is null or l.status <> 'decommissioned')
                ) end as "team_sources?: String"
             from booking_pages p
                join calendars c on c.org_id = p.org_id and c.id = p.calendar_id
                join organizations o on o.id = p.org_id
                left join agents a on a.org_id = c.org_id and a.id = c.agent_id
                left join usage_counters u on u.org_id = p.org_id and u.metric = 'events' and u.period = ?2
             where p.slug_hash = ?1 and p.deleted_at is null and c.deleted_at is null
                and (c.agent_id is null or a.status <> 'decommissioned')"#,
            hash,
            month
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?;
        let opened = found.map(|found| {
            let row = booking_page_row!(found);
            let page = row.open(self.cipher.as_ref())?;
            let (agent, calendar, revision) = (page.agent, page.calendar, Revision(found.revision));
            let mut sources = vec![BusySource { agent, calendar, revision, granted: found.granted }];
            sources.extend(team_sources(&page, found.team_sources.as_deref())?);
            let limits = limits(page.org, &found.plan, found.limit_overrides.as_deref())?;
            let used = found.used.map_or(0, count);
            let events = Used { used, limit: limits.get(Metric::Events) };
            Ok(FoundPage { page, sources, events })
        });
        opened.transpose()
    }

    async fn booking_of_token(&self, token: SecretHash) -> Result<Option<(BookingPage, Booking)>, StoreError> {
        let SecretHash(hash) = token;
        let hash = hash.as_slice();
        let booking = sqlx::query_as!(
            BookingRow,
            "select org_id, id, page_id, calendar_id, event_id, cancel_hash, move_hash, guest, cancelled_by,
                created_at, shared, cancelled_at
             from bookings where cancel_hash = ?1 or move_hash = ?1",
            hash
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?;
        let Some(booking) = booking else { return Ok(None) };
        let booking = booking.open(self.cipher.as_ref())?;
        Ok(self.page_of_bookings(booking.org, booking.page).await?.map(|page| (page, booking)))
    }

    async fn bookings_of_event(
        &self,
        org: OrgId,
        event: EventId,
    ) -> Result<Option<(BookingPage, Vec<Booking>)>, StoreError> {
        let (org_id, event_id) = (org.uuid(), event.uuid());
        let rows = sqlx::query_as!(
            BookingRow,
            "select org_id, id, page_id, calendar_id, event_id, cancel_hash, move_hash, guest, cancelled_by,
                created_at, shared, cancelled_at
             from bookings where org_id = ?1 and event_id = ?2 and cancelled_by is null order by id",
            org_id,
            event_id
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        let bookings = rows.into_iter().map(|row| row.open(self.cipher.as_ref())).collect::<Result<Vec<_>, _>>()?;
        let Some(first) = bookings.first() else { return Ok(None) };
        Ok(self.page_of_bookings(org, first.page).await?.map(|page| (page, bookings)))
    }

    async fn count_guests(&self, org: OrgId, event: EventId) -> Result<u64, StoreError> {
        let (org_id, event_id) = (org.uuid(), event.uuid());
        sqlx::query_scalar!(
            "select count(*) from bookings where org_id = ?1 and event_id = ?2 and cancelled_by is null",
            org_id,
            event_id
        )
        .fetch_one(self.readers())
        .await
        .map(count)
        .map_err(store_error)
    }

    async fn count_bookings(&self, org: OrgId, event: EventId) -> Result<u64, StoreError> {
        let (org_id, event_id) = (org.uuid(), event.uuid());
        sqlx::query_scalar!("select count(*) from bookings where org_id = ?1 and event_id = ?2", org_id, event_id)
            .fetch_one(self.readers())
            .await
            .map(count)
            .map_err(store_error)
    }

    async fn shared_events(
        &self,
        org: OrgId,
        of: BookingPageId,
        calendar: CalendarId,
        within: Span,
    ) -> Result<Vec<SharedEvent>, StoreError> {
        let (org_id, page_id, calendar_id) = (org.uuid(), of.uuid(), calendar.uuid());
        let (from, to) = (within.start().as_micros(), within.end().as_micros());
        let found = sqlx::query!(
            r#"select e.id, e.version, e.start_at, e.end_at, count(*) as "guests!: i64"
             from events e
                cross join bookings b on b.org_id = ?1 and b.event_id = e.id
             where e.org_id = ?1 and e.calendar_id = ?3 and e.deleted_at is null and e.start_at >= ?4 and e.start_at < ?5
                and e.status <> 'cancelled' and e.recurrence is null and b.page_id = ?2 and b.shared
                and b.cancelled_by is null
             group by e.start_at, e.id, e.version, e.end_at
             order by e.start_at, e.id"#,
            org_id,
            page_id,
            calendar_id,
            from,
            to
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        let shared = found.into_iter().map(|row| {
            SharedEventRow {
                id: &row.id,
                version: row.version,
                start_at: row.start_at,
                end_at: row.end_at,
                guests: row.guests,
            }
            .into_domain()
        });
        shared.collect()
    }

    async fn find_booking(&self, org: OrgId, id: BookingId) -> Result<Option<(BookingPage, BookingNow)>, StoreError> {
        let (org_id, id) = (org.uuid(), id.uuid());
        let found = sqlx::query!(
            r#"select b.org_id, b.id, b.page_id, b.calendar_id, b.event_id, b.cancel_hash, b.move_hash, b.guest,
                b.cancelled_by, b.created_at, b.shared, b.cancelled_at, e.calendar_id as on_calendar, e.start_at, e.end_at,
                coalesce(e.deleted_at, case when e.status = 'cancelled' then e.updated_at end, c.deleted_at,
                    case when a.status = 'decommissioned' then a.updated_at end) as "gone_at?: i64"
             from bookings b
                join events e on e.org_id = b.org_id and e.id = b.event_id
                join calendars c on c.org_id = e.org_id and c.id = e.calendar_id
                left join agents a on a.org_id = c.org_id and a.id = c.agent_id
             where b.org_id = ?1 and b.id = ?2"#,
            org_id,
            id
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?;
        let Some(found) = found else { return Ok(None) };
        let (start_at, end_at, gone_at) = (found.start_at, found.end_at, found.gone_at);
        let event = BookedEventRow { on_calendar: &found.on_calendar, start_at, end_at, gone_at };
        let row = booking_row!(found);
        let booking = event.with(row.open(self.cipher.as_ref())?)?;
        Ok(self.page_of_bookings(org, booking.booking.page).await?.map(|page| (page, booking)))
    }

    async fn booked_starts(
        &self,
        org: OrgId,
        of: BookingPageId,
        calendars: &[CalendarId],
        within: Span,
    ) -> Result<Vec<(EventId, Timestamp)>, StoreError> {
        let (org_id, page_id) = (org.uuid(), of.uuid());
        let calendars: Vec<Hex> = calendars.iter().map(|calendar| Hex(calendar.uuid())).collect();
        let calendars = json::rows(&calendars).map_err(store_error)?;
        let (from, to) = (within.start().as_micros(), within.end().as_micros());
        let found = sqlx::query!(
            "select b.event_id, e.start_at
             from json_each(?5) asked
                cross join events e on e.org_id = ?1 and e.calendar_id = unhex(asked.value)
                cross join bookings b on b.org_id = ?1 and b.event_id = e.id
             where e.deleted_at is null and e.start_at >= ?3 and e.start_at < ?4 and e.status <> 'cancelled'
                and b.page_id = ?2 and b.cancelled_by is null",
            org_id,
            page_id,
            from,
            to,
            calendars
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        let read = found.into_iter().map(|row| {
            let event = EventId::from_uuid(row_id("bookings", "event_id", &row.event_id)?);
            Ok((event, Timestamp::from_micros(row.start_at)))
        });
        read.collect()
    }

    async fn shares(&self, org: OrgId, of: BookingPageId, since: Timestamp) -> Result<Shares, StoreError> {
        let (org_id, page_id, since) = (org.uuid(), of.uuid(), since.as_micros());
        let found = sqlx::query!(
            r#"select p.bookings, e.calendar_id as "calendar_id?", count(e.id) as "count!: i64"
             from booking_pages p
                left join bookings b on b.org_id = ?1 and b.page_id = ?2 and b.created_at >= ?3 and b.cancelled_by is null
                left join events e on e.org_id = ?1 and e.id = b.event_id and e.deleted_at is null
                    and e.status <> 'cancelled'
             where p.org_id = ?1 and p.id = ?2
             group by e.calendar_id"#,
            org_id,
            page_id,
            since
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        let mut shares = Shares::default();
        for row in found {
            shares.bookings = count(row.bookings);
            // Bookings that do not take place are in a row without a calendar.
            if let Some(calendar) = row.calendar_id {
                let calendar = CalendarId::from_uuid(row_id("events", "calendar_id", &calendar)?);
                shares.by_calendar.push((calendar, count(row.count)));
            }
        }
        Ok(shares)
    }

    async fn list_bookings(
        &self,
        org: OrgId,
        of: BookingPageId,
        filter: BookingFilter,
        page: Page,
    ) -> Result<Listed<BookingNow>, StoreError> {
        let (org_id, page_id, cancelled) = (org.uuid(), of.uuid(), filter.cancelled);
        let from = filter.start_after.map_or(i64::MIN, Timestamp::as_micros);
        let to = filter.start_before.map_or(i64::MAX, Timestamp::as_micros);
        self.snapshot(async |snapshot| {
            let rows = sqlx::query!(
                r#"select b.org_id, b.id, b.page_id, b.calendar_id, b.event_id, b.cancel_hash, b.move_hash, b.guest,
                    b.cancelled_by, b.created_at, b.shared, b.cancelled_at, e.calendar_id as on_calendar, e.start_at, e.end_at,
                    coalesce(e.deleted_at, case when e.status = 'cancelled' then e.updated_at end, c.deleted_at,
                        case when a.status = 'decommissioned' then a.updated_at end) as "gone_at?: i64"
                 from bookings b
                    join events e on e.org_id = b.org_id and e.id = b.event_id
                    join calendars c on c.org_id = e.org_id and c.id = e.calendar_id
                    left join agents a on a.org_id = c.org_id and a.id = c.agent_id
                 where b.org_id = ?1 and b.page_id = ?2 and e.start_at >= ?3 and e.start_at < ?4
                    and (?5 is null or ?5 = (b.cancelled_by is not null or e.deleted_at is not null or e.status = 'cancelled'
                        or c.deleted_at is not null or coalesce(a.status, '') = 'decommissioned'))
                 order by e.start_at, b.id limit ?6 offset ?7"#,
                org_id,
                page_id,
                from,
                to,
                cancelled,
                page.limit,
                page.offset
            )
            .fetch_all(&mut *snapshot)
            .await
            .map_err(store_error)?;
            let total = match page.total_if_known(rows.len()) {
                Some(total) => total,
                None => sqlx::query_scalar!(
                    "select count(*)
                     from bookings b
                        join events e on e.org_id = b.org_id and e.id = b.event_id
                        join calendars c on c.org_id = e.org_id and c.id = e.calendar_id
                        left join agents a on a.org_id = c.org_id and a.id = c.agent_id
                     where b.org_id = ?1 and b.page_id = ?2 and e.start_at >= ?3 and e.start_at < ?4
                        and (?5 is null or ?5 = (b.cancelled_by is not null or e.deleted_at is not null or e.status = 'cancelled'
                            or c.deleted_at is not null or coalesce(a.status, '') = 'decommissioned'))",
                    org_id,
                    page_id,
                    from,
                    to,
                    cancelled
                )
                .fetch_one(&mut *snapshot)
                .await
                .map(count)
                .map_err(store_error)?,
            };
            let data = rows.into_iter().map(|found| {
                let (start_at, end_at, gone_at) = (found.start_at, found.end_at, found.gone_at);
                let event = BookedEventRow { on_calendar: &found.on_calendar, start_at, end_at, gone_at };
                let row = booking_row!(found);
                event.with(row.open(self.cipher.as_ref())?)
            });
            Ok(Listed { data: data.collect::<Result<_, _>>()?, total })
        })
        .await
    }

    async fn list_bookings_of_pages(
        &self,
        org: OrgId,
        of: BookingsOf,
        filter: BookingFilter,
        page: Page,
    ) -> Result<Listed<(BookingPage, BookingNow)>, StoreError> {
        self.bookings_of_pages(org, of, filter, page).await
    }
}

impl SqliteStore {
    /// A page of a visible calendar, even if the page is deleted. A page of a team is found as long as there is its account: the
    /// event may be on another calendar.
    async fn page_of_bookings(&self, org: OrgId, page: BookingPageId) -> Result<Option<BookingPage>, StoreError> {
        let (org_id, page_id) = (org.uuid(), page.uuid());
        let page = sqlx::query_as!(
            BookingPageRow,
            "select p.org_id, p.id, p.calendar_id, p.agent_id, p.content, p.duration_minutes, p.buffer_minutes, p.window_days,
                p.min_notice_minutes, p.timezone, p.constraints, p.team, p.active, p.bookings, p.version, p.created_at, p.updated_at,
                p.deleted_at
             from booking_pages p
                join calendars c on c.org_id = p.org_id and c.id = p.calendar_id
                left join agents a on a.org_id = c.org_id and a.id = c.agent_id
             where p.org_id = ?1 and p.id = ?2
                and (p.team is not null
                    or (c.deleted_at is null and (c.agent_id is null or a.status <> 'decommissioned')))",
            org_id,
            page_id
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?;
        page.map(|page| page.open(self.cipher.as_ref())).transpose()
    }
}
