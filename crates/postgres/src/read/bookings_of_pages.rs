//! The bookings of several pages, in one list.
//!
//! The identifiers of a page of the list come from the index by start, or from that of the one booking page. Only these
//! bookings are then read.

use std::collections::{BTreeMap, BTreeSet};

use kalends_bookings::{BookingFilter, BookingNow, BookingPage, BookingsOf, counted_to};
use kalends_kernel::{BookingId, BookingPageId, Listed, OrgId, Page, StoreError};
use kalends_time::Timestamp;
use sqlx::{Connection as _, PgConnection};
use uuid::Uuid;

use crate::PostgresStore;
use crate::counts::count;
use crate::error::store_error;
use crate::rows::{BookedEventRow, BookingPageRow, booking_row};

impl PostgresStore {
    /// See [`BookingPages::list_bookings_of_pages`](kalends_bookings::ports::BookingPages::list_bookings_of_pages).
    pub(super) async fn bookings_of_pages(
        &self,
        org: OrgId,
        of: BookingsOf,
        filter: BookingFilter,
        page: Page,
    ) -> Result<Listed<(BookingPage, BookingNow)>, StoreError> {
        let mut connection = self.connections.acquire().await.map_err(store_error)?;
        // All statements see the same snapshot.
        let mut snapshot =
            connection.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await.map_err(store_error)?;
        let ids = ids(&mut snapshot, org, of, filter, page).await?;
        let total = match page.total_if_known(ids.len()) {
            Some(total) => total,
            None => counted(&mut snapshot, org, of, filter, counted_to(page)).await?,
        };
        if ids.is_empty() {
            snapshot.rollback().await.map_err(store_error)?;
            connection.keep();
            return Ok(Listed { data: Vec::new(), total });
        }
        let bookings = self.bookings_with_ids(&mut snapshot, org, &ids).await?;
        let named: BTreeSet<BookingPageId> = bookings.values().map(|found| found.booking.page).collect();
        let pages = self.pages_with_ids(&mut snapshot, org, named).await?;
        snapshot.rollback().await.map_err(store_error)?;
        connection.keep();
        let with_page = |id: &Uuid| {
            let found = bookings.get(&BookingId::from_uuid(*id))?.clone();
            Some((pages.get(&found.booking.page)?.clone(), found))
        };
        Ok(Listed { data: ids.iter().filter_map(with_page).collect(), total })
    }

    async fn bookings_with_ids(
        &self,
        snapshot: &mut PgConnection,
        org: OrgId,
        ids: &[Uuid],
    ) -> Result<BTreeMap<BookingId, BookingNow>, StoreError> {
        let rows = sqlx::query!(
            r#"SELECT b.org_id, b.id, b.page_id, b.calendar_id, b.event_id, b.cancel_hash, b.move_hash, b.guest,
                 b.cancelled_by, b.created_at, b.shared, b.cancelled_at, e.calendar_id AS on_calendar, e.start_at, e.end_at,
                 COALESCE(e.deleted_at, CASE WHEN e.status = 'cancelled' THEN e.updated_at END, c.deleted_at,
                     CASE WHEN a.status = 'decommissioned' THEN a.updated_at END) AS "gone_at?"
             FROM bookings b
             JOIN events e ON e.org_id = b.org_id AND e.id = b.event_id
             JOIN calendars c ON c.org_id = e.org_id AND c.id = e.calendar_id
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE b.org_id = $1 AND b.id = ANY($2)"#,
            org.uuid(),
            ids,
        );
        let rows = rows.fetch_all(snapshot).await.map_err(store_error)?;
        let bookings = rows.into_iter().map(|found| {
            let (start_at, end_at, gone_at) = (found.start_at, found.end_at, found.gone_at);
            let event = BookedEventRow { on_calendar: &found.on_calendar, start_at, end_at, gone_at };
            let row = booking_row!(found);
            let booking = event.with(row.open(&*self.cipher)?)?;
            Ok((booking.booking.id, booking))
        });
        bookings.collect()
    }

    async fn pages_with_ids(
        &self,
        snapshot: &mut PgConnection,
        org: OrgId,
        ids: BTreeSet<BookingPageId>,
    ) -> Result<BTreeMap<BookingPageId, BookingPage>, StoreError> {
        let named: Vec<Uuid> = ids.into_iter().map(|page| page.uuid()).collect();
        let rows = sqlx::query_as!(
            BookingPageRow,
            "SELECT p.org_id, p.id, p.calendar_id, p.agent_id, p.content, p.duration_minutes, p.buffer_minutes, p.window_days,
                 p.min_notice_minutes, p.timezone, p.constraints, p.team, p.active, p.bookings, p.version, p.created_at,
                 p.updated_at, p.deleted_at
             FROM booking_pages p WHERE p.org_id = $1 AND p.id = ANY($2)",
            org.uuid(),
            &named,
        );
        let rows = rows.fetch_all(snapshot).await.map_err(store_error)?;
        let pages = rows.into_iter().map(|row| {
            let page = row.open(&*self.cipher)?;
            Ok((page.id, page))
        });
        pages.collect()
    }
}

/// The bookings of one page of the list, in order.
async fn ids(
    snapshot: &mut PgConnection,
    org: OrgId,
    of: BookingsOf,
    filter: BookingFilter,
    page: Page,
) -> Result<Vec<Uuid>, StoreError> {
    let agent = of.agent.map(|agent| agent.uuid());
    let (from, to) = within(filter);
    let latest_first = filter.latest_first();
    let found = match of.page {
        Some(id) => {
            sqlx::query_scalar!(
                r#"SELECT v.id AS "id!" FROM hosted_bookings v
                 WHERE v.org_id = $1 AND ($2::uuid IS NULL OR v.agent_id = $2) AND (NOT $3::boolean OR v.of_deleted)
                     AND v.start_at >= $4 AND v.start_at < $5 AND ($6::boolean IS NULL OR v.cancelled = $6) AND v.page_id = $7
                 ORDER BY CASE WHEN $8::boolean THEN -v.start_at ELSE v.start_at END,
                     CASE WHEN $8 THEN NULL ELSE v.id END, v.id DESC LIMIT $9::bigint OFFSET $10::bigint"#,
                org.uuid(),
                agent,
                of.only_deleted,
                from,
                to,
                filter.cancelled,
                id.uuid(),
                latest_first,
                i64::from(page.limit),
                i64::from(page.offset),
            )
            .fetch_all(snapshot)
            .await
        }
        None if latest_first => {
            sqlx::query_scalar!(
                r#"SELECT v.id AS "id!" FROM hosted_bookings v
                 WHERE v.org_id = $1 AND ($2::uuid IS NULL OR v.agent_id = $2) AND (NOT $3::boolean OR v.of_deleted)
                     AND v.start_at >= $4 AND v.start_at < $5 AND ($6::boolean IS NULL OR v.cancelled = $6)
                 ORDER BY v.start_at DESC, v.id DESC LIMIT $7::bigint OFFSET $8::bigint"#,
                org.uuid(),
                agent,
                of.only_deleted,
                from,
                to,
                filter.cancelled,
                i64::from(page.limit),
                i64::from(page.offset),
            )
            .fetch_all(snapshot)
            .await
        }
        None => {
            sqlx::query_scalar!(
                r#"SELECT v.id AS "id!" FROM hosted_bookings v
                 WHERE v.org_id = $1 AND ($2::uuid IS NULL OR v.agent_id = $2) AND (NOT $3::boolean OR v.of_deleted)
                     AND v.start_at >= $4 AND v.start_at < $5 AND ($6::boolean IS NULL OR v.cancelled = $6)
                 ORDER BY v.start_at, v.id LIMIT $7::bigint OFFSET $8::bigint"#,
                org.uuid(),
                agent,
                of.only_deleted,
                from,
                to,
                filter.cancelled,
                i64::from(page.limit),
                i64::from(page.offset),
            )
            .fetch_all(snapshot)
            .await
        }
    };
    found.map_err(store_error)
}

/// How many bookings are in the list: at most `most`.
async fn counted(
    snapshot: &mut PgConnection,
    org: OrgId,
    of: BookingsOf,
    filter: BookingFilter,
    most: u32,
) -> Result<u64, StoreError> {
    let agent = of.agent.map(|agent| agent.uuid());
    let (from, to) = within(filter);
    let counted = match of.page {
        Some(id) => {
            sqlx::query_scalar!(
                r#"SELECT count(*) AS "count!" FROM (
                     SELECT 1 FROM hosted_bookings v
                     WHERE v.org_id = $1 AND ($2::uuid IS NULL OR v.agent_id = $2) AND (NOT $3::boolean OR v.of_deleted)
                     AND v.start_at >= $4 AND v.start_at < $5 AND ($6::boolean IS NULL OR v.cancelled = $6) AND v.page_id = $8
                     LIMIT $7::bigint) AS counted"#,
                org.uuid(),
                agent,
                of.only_deleted,
                from,
                to,
                filter.cancelled,
                i64::from(most),
                id.uuid(),
            )
            .fetch_one(snapshot)
            .await
        }
        None => {
            sqlx::query_scalar!(
                r#"SELECT count(*) AS "count!" FROM (
                     SELECT 1 FROM hosted_bookings v
                     WHERE v.org_id = $1 AND ($2::uuid IS NULL OR v.agent_id = $2) AND (NOT $3::boolean OR v.of_deleted)
                     AND v.start_at >= $4 AND v.start_at < $5 AND ($6::boolean IS NULL OR v.cancelled = $6)
                     LIMIT $7::bigint) AS counted"#,
                org.uuid(),
                agent,
                of.only_deleted,
                from,
                to,
                filter.cancelled,
                i64::from(most),
            )
            .fetch_one(snapshot)
            .await
        }
    };
    counted.map(count).map_err(store_error)
}

fn within(filter: BookingFilter) -> (i64, i64) {
    let from = filter.start_after.map_or(i64::MIN, Timestamp::as_micros);
    (from, filter.start_before.map_or(i64::MAX, Timestamp::as_micros))
}
