//! Reads booking pages and bookings.

use async_trait::async_trait;
use kalends_bookings::ports::{BookingPages, FoundPage, Shares};
use kalends_bookings::{Booking, BookingFilter, BookingNow, BookingPage, BookingsOf, SecretHash, SharedEvent};
use kalends_calendars::ports::BusySource;
use kalends_kernel::{
    AgentId, BookingId, BookingPageId, CalendarId, EventId, Listed, OrgId, Page, Revision, StoreError,
};
use kalends_plans::{Metric, Used};
use kalends_quotas::Period;
use kalends_time::{Span, Timestamp};
use uuid::Uuid;

use super::listed;
use crate::PostgresStore;
use crate::counts::count;
use crate::error::store_error;
use crate::rows::{
    BookedEventRow, BookingPageRow, BookingRow, SharedEventRow, booking_page_row, booking_row, limits, team_sources,
};

#[async_trait]
impl BookingPages for PostgresStore {
    async fn find_booking_page(&self, org: OrgId, page: BookingPageId) -> Result<Option<BookingPage>, StoreError> {
        let row = sqlx::query_as!(
            BookingPageRow,
            "SELECT p.org_id, p.id, p.calendar_id, p.agent_id, p.content, p.duration_minutes, p.buffer_minutes, p.window_days,
                 p.min_notice_minutes, p.timezone, p.constraints, p.team, p.active, p.bookings, p.version, p.created_at,
                 p.updated_at, p.deleted_at
             FROM booking_pages p
             JOIN calendars c ON c.org_id = p.org_id AND c.id = p.calendar_id
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE p.org_id = $1 AND p.id = $2 AND p.deleted_at IS NULL AND c.deleted_at IS NULL
                 AND (c.agent_id IS NULL OR a.status <> 'decommissioned')",
            org.uuid(),
            page.uuid(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        row.map(|row| row.open(&*self.cipher)).transpose()
    }

    async fn list_booking_pages(
        &self,
        org: OrgId,
        agent: Option<AgentId>,
        page: Page,
    ) -> Result<Listed<BookingPage>, StoreError> {
        let agent = agent.map(|agent| agent.uuid());
        // A plan caps the number of pages, so counting them all is cheap.
        let records = sqlx::query!(
            r#"SELECT p.org_id, p.id, p.calendar_id, p.agent_id, p.content, p.duration_minutes, p.buffer_minutes, p.window_days,
                 p.min_notice_minutes, p.timezone, p.constraints, p.team, p.active, p.bookings, p.version, p.created_at,
                 p.updated_at, p.deleted_at, count(*) OVER () AS "total!"
             FROM booking_pages p
             JOIN calendars c ON c.org_id = p.org_id AND c.id = p.calendar_id
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE p.org_id = $1 AND ($2::uuid IS NULL OR p.agent_id = $2) AND p.deleted_at IS NULL
                 AND c.deleted_at IS NULL AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
             ORDER BY p.created_at, p.id LIMIT $3::bigint OFFSET $4::bigint"#,
            org.uuid(),
            agent,
            i64::from(page.limit),
            i64::from(page.offset),
        );
        let records = records.fetch_all(&self.connections).await.map_err(store_error)?;
        let counted = records.first().map(|record| record.total);
        let total = sqlx::query_scalar!(
            r#"SELECT count(*) AS "count!"
             FROM booking_pages p
             JOIN calendars c ON c.org_id = p.org_id AND c.id = p.calendar_id
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE p.org_id = $1 AND ($2::uuid IS NULL OR p.agent_id = $2) AND p.deleted_at IS NULL
                 AND c.deleted_at IS NULL AND (c.agent_id IS NULL OR a.status <> 'decommissioned')"#,
            org.uuid(),
            agent,
        );
        let opened = records.into_iter().map(|record| booking_page_row!(record).open(&*self.cipher));
        let data = opened.collect::<Result<_, _>>()?;
        listed(data, page, counted, total.fetch_one(&self.connections)).await
    }

    async fn booking_page_of_slug(&self, slug: SecretHash, month: Period) -> Result<Option<FoundPage>, StoreError> {
        let SecretHash(hash) = slug;
        let record = sqlx::query!(
            r#"SELECT p.org_id, p.id, p.calendar_id, p.agent_id, p.content, p.duration_minutes, p.buffer_minutes, p.window_days,
                 p.min_notice_minutes, p.timezone, p.constraints, p.team, p.active, p.bookings, p.version, p.created_at,
                 p.updated_at, p.deleted_at, c.revision, o.plan, o.limit_overrides, u.used AS "used?",
                 (EXISTS (SELECT 1 FROM availability_grants g WHERE g.org_id = c.org_id AND g.audience = 'all')
                     OR EXISTS (SELECT 1 FROM availability_grant_agents n
                                WHERE n.org_id = c.org_id AND n.agent_id = c.agent_id)) AS "granted!",
                 CASE WHEN p.team IS NOT NULL THEN (
                     SELECT json_agg(json_build_array(m.id, m.agent_id, m.revision,
                         EXISTS (SELECT 1 FROM availability_grants g WHERE g.org_id = m.org_id AND g.audience = 'all')
                             OR EXISTS (SELECT 1 FROM availability_grant_agents n
                                        WHERE n.org_id = m.org_id AND n.agent_id = m.agent_id)))::text
                     FROM json_array_elements_text(p.team::json -> 'calendars') AS named (id)
                     JOIN calendars m ON m.org_id = p.org_id AND m.id = named.id::uuid
                     LEFT JOIN agents l ON l.org_id = m.org_id AND l.id = m.agent_id
                     WHERE m.deleted_at IS NULL AND (m.agent_id IS NULL OR l.status <> 'decommissioned')
                 ) END AS team_sources
             FROM booking_pages p
             JOIN calendars c ON c.org_id = p.org_id AND c.id = p.calendar_id
             JOIN organizations o ON o.id = p.org_id
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             LEFT JOIN usage_counters u ON u.org_id = p.org_id AND u.metric = 'events' AND u.period = $2
             WHERE p.slug_hash = $1 AND p.deleted_at IS NULL AND c.deleted_at IS NULL
                 AND (c.agent_id IS NULL OR a.status <> 'decommissioned')"#,
            hash.as_slice(),
            month.number(),
        );
        let record = record.fetch_optional(&self.connections).await.map_err(store_error)?;
        let Some(record) = record else { return Ok(None) };
        let (used, revision, granted) = (record.used.map_or(0, count), Revision(record.revision), record.granted);
        let (plan, overrides) = (record.plan, record.limit_overrides);
        let team = record.team_sources.clone();
        let page: BookingPage = booking_page_row!(record).open(&*self.cipher)?;
        let limits = limits(page.org, &plan, overrides.as_deref())?;
        let mut sources = vec![BusySource { agent: page.agent, calendar: page.calendar, revision, granted }];
        sources.extend(team_sources(&page, team.as_deref())?);
        Ok(Some(FoundPage { page, sources, events: Used { used, limit: limits.get(Metric::Events) } }))
    }

    async fn booking_of_token(&self, token: SecretHash) -> Result<Option<(BookingPage, Booking)>, StoreError> {
        let SecretHash(hash) = token;
        let booking = sqlx::query_as!(
            BookingRow,
            "SELECT org_id, id, page_id, calendar_id, event_id, cancel_hash, move_hash, guest, cancelled_by,
                 created_at, shared, cancelled_at
             FROM bookings WHERE cancel_hash = $1 OR move_hash = $1",
            hash.as_slice(),
        );
        let booking = booking.fetch_optional(&self.connections).await.map_err(store_error)?;
        let Some(booking) = booking else { return Ok(None) };
        let booking = booking.open(&*self.cipher)?;
        Ok(self.page_of_bookings(booking.org, booking.page).await?.map(|page| (page, booking)))
    }

    async fn bookings_of_event(
        &self,
        org: OrgId,
        event: EventId,
    ) -> Result<Option<(BookingPage, Vec<Booking>)>, StoreError> {
        let rows = sqlx::query_as!(
            BookingRow,
            "SELECT org_id, id, page_id, calendar_id, event_id, cancel_hash, move_hash, guest, cancelled_by,
                 created_at, shared, cancelled_at
             FROM bookings WHERE org_id = $1 AND event_id = $2 AND cancelled_by IS NULL ORDER BY id",
            org.uuid(),
            event.uuid(),
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        let bookings = rows.into_iter().map(|row| row.open(&*self.cipher)).collect::<Result<Vec<_>, _>>()?;
        let Some(first) = bookings.first() else { return Ok(None) };
        Ok(self.page_of_bookings(org, first.page).await?.map(|page| (page, bookings)))
    }

    async fn count_guests(&self, org: OrgId, event: EventId) -> Result<u64, StoreError> {
        let guests = sqlx::query_scalar!(
            r#"SELECT count(*) AS "guests!" FROM bookings WHERE org_id = $1 AND event_id = $2 AND cancelled_by IS NULL"#,
            org.uuid(),
            event.uuid(),
        );
        guests.fetch_one(&self.connections).await.map(count).map_err(store_error)
    }

    async fn count_bookings(&self, org: OrgId, event: EventId) -> Result<u64, StoreError> {
        let bookings = sqlx::query_scalar!(
            r#"SELECT count(*) AS "bookings!" FROM bookings WHERE org_id = $1 AND event_id = $2"#,
            org.uuid(),
            event.uuid(),
        );
        bookings.fetch_one(&self.connections).await.map(count).map_err(store_error)
    }

    async fn shared_events(
        &self,
        org: OrgId,
        of: BookingPageId,
        calendar: CalendarId,
        within: Span,
    ) -> Result<Vec<SharedEvent>, StoreError> {
        let found = sqlx::query!(
            r#"SELECT e.id, e.version, e.start_at, e.end_at, count(*) AS "guests!"
             FROM events e JOIN bookings b ON b.org_id = e.org_id AND b.event_id = e.id
             WHERE e.org_id = $1 AND e.calendar_id = $3 AND e.deleted_at IS NULL AND e.start_at >= $4 AND e.start_at < $5
                 AND e.status <> 'cancelled' AND e.recurrence IS NULL AND b.page_id = $2 AND b.shared
                 AND b.cancelled_by IS NULL
             GROUP BY e.start_at, e.id, e.version, e.end_at
             ORDER BY e.start_at, e.id"#,
            org.uuid(),
            of.uuid(),
            calendar.uuid(),
            within.start().as_micros(),
            within.end().as_micros(),
        );
        let found = found.fetch_all(&self.connections).await.map_err(store_error)?;
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
        let found = sqlx::query!(
            r#"SELECT b.org_id, b.id, b.page_id, b.calendar_id, b.event_id, b.cancel_hash, b.move_hash, b.guest,
                 b.cancelled_by, b.created_at, b.shared, b.cancelled_at, e.calendar_id AS on_calendar, e.start_at, e.end_at,
                 COALESCE(e.deleted_at, CASE WHEN e.status = 'cancelled' THEN e.updated_at END, c.deleted_at,
                     CASE WHEN a.status = 'decommissioned' THEN a.updated_at END) AS "gone_at?"
             FROM bookings b
             JOIN events e ON e.org_id = b.org_id AND e.id = b.event_id
             JOIN calendars c ON c.org_id = e.org_id AND c.id = e.calendar_id
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE b.org_id = $1 AND b.id = $2"#,
            org.uuid(),
            id.uuid(),
        );
        let Some(found) = found.fetch_optional(&self.connections).await.map_err(store_error)? else { return Ok(None) };
        let (start_at, end_at, gone_at) = (found.start_at, found.end_at, found.gone_at);
        let event = BookedEventRow { on_calendar: &found.on_calendar, start_at, end_at, gone_at };
        let row = booking_row!(found);
        let booking = event.with(row.open(&*self.cipher)?)?;
        Ok(self.page_of_bookings(org, booking.booking.page).await?.map(|page| (page, booking)))
    }

    async fn booked_starts(
        &self,
        org: OrgId,
        of: BookingPageId,
        calendars: &[CalendarId],
        within: Span,
    ) -> Result<Vec<(EventId, Timestamp)>, StoreError> {
        let calendars: Vec<Uuid> = calendars.iter().map(|calendar| calendar.uuid()).collect();
        let found = sqlx::query!(
            "SELECT b.event_id, e.start_at
             FROM events e JOIN bookings b ON b.org_id = e.org_id AND b.event_id = e.id
             WHERE e.org_id = $1 AND e.calendar_id = ANY($5) AND e.deleted_at IS NULL AND e.start_at >= $3
                 AND e.start_at < $4 AND e.status <> 'cancelled' AND b.page_id = $2
                 AND b.cancelled_by IS NULL",
            org.uuid(),
            of.uuid(),
            within.start().as_micros(),
            within.end().as_micros(),
            &calendars,
        );
        let found = found.fetch_all(&self.connections).await.map_err(store_error)?;
        let starts = found.into_iter();
        Ok(starts.map(|row| (EventId::from_uuid(row.event_id), Timestamp::from_micros(row.start_at))).collect())
    }

    async fn shares(&self, org: OrgId, of: BookingPageId, since: Timestamp) -> Result<Shares, StoreError> {
        let found = sqlx::query!(
            r#"SELECT p.bookings, e.calendar_id AS "calendar_id?", count(e.id) AS "count!"
             FROM booking_pages p
             LEFT JOIN bookings b ON b.org_id = $1 AND b.page_id = $2 AND b.created_at >= $3
                 AND b.cancelled_by IS NULL
             LEFT JOIN events e ON e.org_id = $1 AND e.id = b.event_id AND e.deleted_at IS NULL
                 AND e.status <> 'cancelled'
             WHERE p.org_id = $1 AND p.id = $2
             GROUP BY p.bookings, e.calendar_id"#,
            org.uuid(),
            of.uuid(),
            since.as_micros(),
        );
        let mut shares = Shares::default();
        for row in found.fetch_all(&self.connections).await.map_err(store_error)? {
            shares.bookings = count(row.bookings);
            // Bookings that do not take place are in a row without a calendar.
            let calendar = row.calendar_id.map(CalendarId::from_uuid);
            shares.by_calendar.extend(calendar.map(|calendar| (calendar, count(row.count))));
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
        let from = filter.start_after.map_or(i64::MIN, Timestamp::as_micros);
        let to = filter.start_before.map_or(i64::MAX, Timestamp::as_micros);
        let found = sqlx::query!(
            r#"SELECT b.org_id, b.id, b.page_id, b.calendar_id, b.event_id, b.cancel_hash, b.move_hash, b.guest,
                 b.cancelled_by, b.created_at, b.shared, b.cancelled_at, e.calendar_id AS on_calendar, e.start_at, e.end_at,
                 COALESCE(e.deleted_at, CASE WHEN e.status = 'cancelled' THEN e.updated_at END, c.deleted_at,
                     CASE WHEN a.status = 'decommissioned' THEN a.updated_at END) AS "gone_at?",
                 count(*) OVER () AS "total!"
             FROM bookings b
             JOIN events e ON e.org_id = b.org_id AND e.id = b.event_id
             JOIN calendars c ON c.org_id = e.org_id AND c.id = e.calendar_id
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE b.org_id = $1 AND b.page_id = $2 AND e.start_at >= $3 AND e.start_at < $4
                 AND ($5::boolean IS NULL OR $5 = (b.cancelled_by IS NOT NULL OR e.deleted_at IS NOT NULL OR e.status = 'cancelled'
                     OR c.deleted_at IS NOT NULL OR COALESCE(a.status, '') = 'decommissioned'))
             ORDER BY e.start_at, b.id LIMIT $6 OFFSET $7"#,
            org.uuid(),
            of.uuid(),
            from,
            to,
            filter.cancelled,
            i64::from(page.limit),
            i64::from(page.offset),
        );
        let found = found.fetch_all(&self.connections).await.map_err(store_error)?;
        let counted = found.first().map(|record| record.total);
        let total = sqlx::query_scalar!(
            r#"SELECT count(*) AS "count!"
             FROM bookings b
             JOIN events e ON e.org_id = b.org_id AND e.id = b.event_id
             JOIN calendars c ON c.org_id = e.org_id AND c.id = e.calendar_id
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE b.org_id = $1 AND b.page_id = $2 AND e.start_at >= $3 AND e.start_at < $4
                 AND ($5::boolean IS NULL OR $5 = (b.cancelled_by IS NOT NULL OR e.deleted_at IS NOT NULL OR e.status = 'cancelled'
                     OR c.deleted_at IS NOT NULL OR COALESCE(a.status, '') = 'decommissioned'))"#,
            org.uuid(),
            of.uuid(),
            from,
            to,
            filter.cancelled,
        );
        let opened = found.into_iter().map(|found| {
            let (start_at, end_at, gone_at) = (found.start_at, found.end_at, found.gone_at);
            let event = BookedEventRow { on_calendar: &found.on_calendar, start_at, end_at, gone_at };
            let row = booking_row!(found);
            event.with(row.open(&*self.cipher)?)
        });
        let data = opened.collect::<Result<_, _>>()?;
        listed(data, page, counted, total.fetch_one(&self.connections)).await
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

impl PostgresStore {
    /// A page of a visible calendar, even if the page is deleted. A page of a team is found as long as there is its account: the
    /// event may be on another calendar.
    async fn page_of_bookings(&self, org: OrgId, page: BookingPageId) -> Result<Option<BookingPage>, StoreError> {
        let page = sqlx::query_as!(
            BookingPageRow,
            "SELECT p.org_id, p.id, p.calendar_id, p.agent_id, p.content, p.duration_minutes, p.buffer_minutes, p.window_days,
                 p.min_notice_minutes, p.timezone, p.constraints, p.team, p.active, p.bookings, p.version, p.created_at,
                 p.updated_at, p.deleted_at
             FROM booking_pages p
             JOIN calendars c ON c.org_id = p.org_id AND c.id = p.calendar_id
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE p.org_id = $1 AND p.id = $2
                 AND (p.team IS NOT NULL
                     OR (c.deleted_at IS NULL AND (c.agent_id IS NULL OR a.status <> 'decommissioned')))",
            org.uuid(),
            page.uuid(),
        );
        let page = page.fetch_optional(&self.connections).await.map_err(store_error)?;
        page.map(|page| page.open(&*self.cipher)).transpose()
    }
}
