//! The bookings of several pages, in one list.
//!
//! The identifiers of a page of the list come from the index by start, or from that of the one booking page. Only these
//! bookings are then read.

use std::collections::{BTreeMap, BTreeSet};

use kalends_bookings::{BookingFilter, BookingNow, BookingPage, BookingsOf, counted_to};
use kalends_kernel::{BookingId, BookingPageId, Listed, OrgId, Page, StoreError};
use kalends_time::Timestamp;
use sqlx::SqliteConnection;

use super::count;
use crate::{
    SqliteStore,
    error::store_error,
    json::{self, Hex},
    rows::{BookedEventRow, BookingPageRow, booking_row, row_id},
};

impl SqliteStore {
    /// See [`BookingPages::list_bookings_of_pages`](kalends_bookings::ports::BookingPages::list_bookings_of_pages).
    pub(super) async fn bookings_of_pages(
        &self,
        org: OrgId,
        of: BookingsOf,
        filter: BookingFilter,
        page: Page,
    ) -> Result<Listed<(BookingPage, BookingNow)>, StoreError> {
        self.snapshot(async |snapshot| {
            let ids = ids(&mut *snapshot, org, of, filter, page).await?;
            let total = match page.total_if_known(ids.len()) {
                Some(total) => total,
                None => counted(&mut *snapshot, org, of, filter, counted_to(page)).await?,
            };
            if ids.is_empty() {
                return Ok(Listed { data: Vec::new(), total });
            }
            let bookings = self.bookings_with_ids(&mut *snapshot, org, &ids).await?;
            let named: BTreeSet<BookingPageId> = bookings.values().map(|found| found.booking.page).collect();
            let pages = self.pages_with_ids(&mut *snapshot, org, named).await?;
            let with_page = |id: &BookingId| {
                let found = bookings.get(id)?.clone();
                Some((pages.get(&found.booking.page)?.clone(), found))
            };
            Ok(Listed { data: ids.iter().filter_map(with_page).collect(), total })
        })
        .await
    }

    async fn bookings_with_ids(
        &self,
        snapshot: &mut SqliteConnection,
        org: OrgId,
        ids: &[BookingId],
    ) -> Result<BTreeMap<BookingId, BookingNow>, StoreError> {
        let org_id = org.uuid();
        let named: Vec<Hex> = ids.iter().map(|id| Hex(id.uuid())).collect();
        let named = json::rows(&named).map_err(store_error)?;
        let rows = sqlx::query!(
            r#"select b.org_id, b.id, b.page_id, b.calendar_id, b.event_id, b.cancel_hash, b.move_hash, b.guest,
                b.cancelled_by, b.created_at, b.shared, b.cancelled_at, e.calendar_id as on_calendar, e.start_at, e.end_at,
                coalesce(e.deleted_at, case when e.status = 'cancelled' then e.updated_at end, c.deleted_at,
                    case when a.status = 'decommissioned' then a.updated_at end) as "gone_at?: i64"
             from json_each(?2) named
                cross join bookings b on b.org_id = ?1 and b.id = unhex(named.value)
                join events e on e.org_id = b.org_id and e.id = b.event_id
                join calendars c on c.org_id = e.org_id and c.id = e.calendar_id
                left join agents a on a.org_id = c.org_id and a.id = c.agent_id"#,
            org_id,
            named
        )
        .fetch_all(snapshot)
        .await
        .map_err(store_error)?;
        let bookings = rows.into_iter().map(|found| {
            let (start_at, end_at, gone_at) = (found.start_at, found.end_at, found.gone_at);
            let event = BookedEventRow { on_calendar: &found.on_calendar, start_at, end_at, gone_at };
            let row = booking_row!(found);
            let booking = event.with(row.open(self.cipher.as_ref())?)?;
            Ok((booking.booking.id, booking))
        });
        bookings.collect()
    }

    async fn pages_with_ids(
        &self,
        snapshot: &mut SqliteConnection,
        org: OrgId,
        ids: BTreeSet<BookingPageId>,
    ) -> Result<BTreeMap<BookingPageId, BookingPage>, StoreError> {
        let org_id = org.uuid();
        let named: Vec<Hex> = ids.into_iter().map(|page| Hex(page.uuid())).collect();
        let named = json::rows(&named).map_err(store_error)?;
        let rows = sqlx::query_as!(
            BookingPageRow,
            "select p.org_id, p.id, p.calendar_id, p.agent_id, p.content, p.duration_minutes, p.buffer_minutes, p.window_days,
                p.min_notice_minutes, p.timezone, p.constraints, p.team, p.active, p.bookings, p.version, p.created_at, p.updated_at,
                p.deleted_at
             from json_each(?2) named
                cross join booking_pages p on p.org_id = ?1 and p.id = unhex(named.value)",
            org_id,
            named
        )
        .fetch_all(snapshot)
        .await
        .map_err(store_error)?;
        let pages = rows.into_iter().map(|row| {
            let page = row.open(self.cipher.as_ref())?;
            Ok((page.id, page))
        });
        pages.collect()
    }
}

/// The bookings of one page of the list, in order.
async fn ids(
    snapshot: &mut SqliteConnection,
    org: OrgId,
    of: BookingsOf,
    filter: BookingFilter,
    page: Page,
) -> Result<Vec<BookingId>, StoreError> {
    let (org_id, agent_id) = (org.uuid(), of.agent.map(|agent| agent.uuid()));
    let (from, to) = within(filter);
    let latest_first = filter.latest_first();
    let found = match of.page {
        Some(id) => {
            let page_id = id.uuid();
            // `+` keeps the index by start out: the page has fewer bookings.
            sqlx::query_scalar!(
                r#"select v.id as "id!: Vec<u8>" from hosted_bookings v
                 where v.org_id = ?1 and (?2 is null or v.agent_id = ?2) and (not ?3 or v.of_deleted)
                    and +v.start_at >= ?4 and +v.start_at < ?5 and (?6 is null or v.cancelled = ?6) and v.page_id = ?7
                 order by case when ?8 then -v.start_at else v.start_at end,
                    case when ?8 then null else v.id end, v.id desc limit ?9 offset ?10"#,
                org_id,
                agent_id,
                of.only_deleted,
                from,
                to,
                filter.cancelled,
                page_id,
                latest_first,
                page.limit,
                page.offset
            )
            .fetch_all(snapshot)
            .await
        }
        None if latest_first => {
            sqlx::query_scalar!(
                r#"select v.id as "id!: Vec<u8>" from hosted_bookings v
                 where v.org_id = ?1 and (?2 is null or v.agent_id = ?2) and (not ?3 or v.of_deleted)
                    and v.start_at >= ?4 and v.start_at < ?5 and (?6 is null or v.cancelled = ?6)
                 order by v.start_at desc, v.id desc limit ?7 offset ?8"#,
                org_id,
                agent_id,
                of.only_deleted,
                from,
                to,
                filter.cancelled,
                page.limit,
                page.offset
            )
            .fetch_all(snapshot)
            .await
        }
        None => {
            sqlx::query_scalar!(
                r#"select v.id as "id!: Vec<u8>" from hosted_bookings v
                 where v.org_id = ?1 and (?2 is null or v.agent_id = ?2) and (not ?3 or v.of_deleted)
                    and v.start_at >= ?4 and v.start_at < ?5 and (?6 is null or v.cancelled = ?6)
                 order by v.start_at, v.id limit ?7 offset ?8"#,
                org_id,
                agent_id,
                of.only_deleted,
                from,
                to,
                filter.cancelled,
                page.limit,
                page.offset
            )
            .fetch_all(snapshot)
            .await
        }
    };
    let ids = found.map_err(store_error)?.into_iter();
    ids.map(|id| Ok(BookingId::from_uuid(row_id("bookings", "id", &id)?))).collect()
}

/// How many bookings are in the list: at most `most`.
async fn counted(
    snapshot: &mut SqliteConnection,
    org: OrgId,
    of: BookingsOf,
    filter: BookingFilter,
    most: u32,
) -> Result<u64, StoreError> {
    let (org_id, agent_id) = (org.uuid(), of.agent.map(|agent| agent.uuid()));
    let (from, to) = within(filter);
    let counted = match of.page {
        Some(id) => {
            let page_id = id.uuid();
            sqlx::query_scalar!(
                r#"select count(*) as "count!: i64" from (
                    select 1 from hosted_bookings v
                    where v.org_id = ?1 and (?2 is null or v.agent_id = ?2) and (not ?3 or v.of_deleted)
                    and +v.start_at >= ?4 and +v.start_at < ?5 and (?6 is null or v.cancelled = ?6) and v.page_id = ?8
                    limit ?7)"#,
                org_id,
                agent_id,
                of.only_deleted,
                from,
                to,
                filter.cancelled,
                most,
                page_id
            )
            .fetch_one(snapshot)
            .await
        }
        None => {
            sqlx::query_scalar!(
                r#"select count(*) as "count!: i64" from (
                    select 1 from hosted_bookings v
                    where v.org_id = ?1 and (?2 is null or v.agent_id = ?2) and (not ?3 or v.of_deleted)
                    and v.start_at >= ?4 and v.start_at < ?5 and (?6 is null or v.cancelled = ?6)
                    limit ?7)"#,
                org_id,
                agent_id,
                of.only_deleted,
                from,
                to,
                filter.cancelled,
                most
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
