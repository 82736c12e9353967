//! Reads booking pages and bookings.

use async_trait::async_trait;
use kalends_bookings::ports::{BookingPages, FoundPage};
use kalends_bookings::{Booking, BookingPage, SecretHash};
use kalends_calendars::ports::BusySource;
use kalends_kernel::{AgentId, BookingPageId, Listed, OrgId, Page, Revision, StoreError};
use kalends_plans::{Metric, Used};
use kalends_quotas::Period;

use super::listed;
use crate::PostgresStore;
use crate::counts::count;
use crate::error::store_error;
use crate::rows::{BookingPageRow, BookingRow, booking_page_row, limits};

#[async_trait]
impl BookingPages for PostgresStore {
    async fn find_booking_page(&self, org: OrgId, page: BookingPageId) -> Result<Option<BookingPage>, StoreError> {
        let row = sqlx::query_as!(
            BookingPageRow,
            "SELECT p.org_id, p.id, p.calendar_id, p.agent_id, p.content, p.duration_minutes, p.buffer_minutes, p.window_days,
                 p.min_notice_minutes, p.timezone, p.constraints, p.active, p.bookings, p.version, p.created_at,
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
                 p.min_notice_minutes, p.timezone, p.constraints, p.active, p.bookings, p.version, p.created_at,
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
                 p.min_notice_minutes, p.timezone, p.constraints, p.active, p.bookings, p.version, p.created_at,
                 p.updated_at, p.deleted_at, c.revision, o.plan, o.limit_overrides, u.used AS "used?",
                 (EXISTS (SELECT 1 FROM availability_grants g WHERE g.org_id = c.org_id AND g.audience = 'all')
                     OR EXISTS (SELECT 1 FROM availability_grant_agents n
                                WHERE n.org_id = c.org_id AND n.agent_id = c.agent_id)) AS "granted!"
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
        let page: BookingPage = booking_page_row!(record).open(&*self.cipher)?;
        let limits = limits(page.org, &plan, overrides.as_deref())?;
        let source = BusySource { agent: page.agent, calendar: page.calendar, revision, granted };
        Ok(Some(FoundPage { page, source, events: Used { used, limit: limits.get(Metric::Events) } }))
    }

    async fn booking_of_token(&self, token: SecretHash) -> Result<Option<(BookingPage, Booking)>, StoreError> {
        let SecretHash(hash) = token;
        let booking = sqlx::query_as!(
            BookingRow,
            "SELECT org_id, id, page_id, calendar_id, event_id, cancel_hash, move_hash, guest, created_at
             FROM bookings WHERE cancel_hash = $1 OR move_hash = $1",
            hash.as_slice(),
        );
        let booking = booking.fetch_optional(&self.connections).await.map_err(store_error)?;
        let Some(booking) = booking else { return Ok(None) };
        let page = sqlx::query_as!(
            BookingPageRow,
            "SELECT p.org_id, p.id, p.calendar_id, p.agent_id, p.content, p.duration_minutes, p.buffer_minutes, p.window_days,
                 p.min_notice_minutes, p.timezone, p.constraints, p.active, p.bookings, p.version, p.created_at,
                 p.updated_at, p.deleted_at
             FROM booking_pages p
             JOIN calendars c ON c.org_id = p.org_id AND c.id = p.calendar_id
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE p.org_id = $1 AND p.id = $2 AND c.deleted_at IS NULL
                 AND (c.agent_id IS NULL OR a.status <> 'decommissioned')",
            booking.org_id,
            booking.page_id,
        );
        let page = page.fetch_optional(&self.connections).await.map_err(store_error)?;
        let Some(page) = page else { return Ok(None) };
        Ok(Some((page.open(&*self.cipher)?, booking.open(&*self.cipher)?)))
    }
}
