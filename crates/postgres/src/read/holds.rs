//! Visible holds.

use async_trait::async_trait;
use kalends_calendars::ports::{CalendarHolds, HoldSetFilter, Holds, LiveHold, OwnedEvent};
use kalends_calendars::{HoldSet, Reservation, ReservationOwner};
use kalends_kernel::{AgentId, CalendarId, HoldSetId, Listed, OrgId, PAGE_BYTES_MAX, Page, Revision, StoreError};
use kalends_time::{Span, Timestamp};
use kalends_warm_pool::{RowsWithin, rows_within, sealed_weight};
use uuid::Uuid;

use super::listed;
use crate::PostgresStore;
use crate::error::store_error;
use crate::rows::{EventRow, Located, event_row, live_hold, publication};

#[async_trait]
impl Holds for PostgresStore {
    async fn holds_within(
        &self,
        org: OrgId,
        calendar: CalendarId,
        window: Span,
    ) -> Result<Option<CalendarHolds>, StoreError> {
        // If the calendar is visible, there is at least one row: without holds, it has NULLs for the hold.
        let records = sqlx::query!(
            r#"SELECT c.revision, e.id AS "id?", e.calendar_id AS "calendar_id?",
                 e.content AS "content?", e.start_at AS "start_at?", e.end_at AS "end_at?", e.all_day AS "all_day?",
                 e.status AS "status?", e.source AS "source?", e.reminders, e.version AS "version?",
                 e.created_at AS "created_at?", e.updated_at AS "updated_at?", e.hold_expires_at,
                 e.hold_priority, e.hold_scope, e.hold_set_id, e.transparent,
                 (SELECT json_agg(json_build_array(v.proposal_id, v.start_at, v.end_at, v.expires_at))::text
                  FROM reservations v
                  WHERE v.org_id = $1 AND v.calendar_id = $2 AND v.start_at < $4 AND v.end_at > $3) AS reserved
             FROM calendars c
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             LEFT JOIN events e ON e.org_id = $1 AND e.calendar_id = $2 AND e.status = 'hold'
                 AND e.deleted_at IS NULL AND e.start_at < $4 AND e.end_at > $3
             WHERE c.org_id = $1 AND c.id = $2 AND c.deleted_at IS NULL
                 AND (c.agent_id IS NULL OR a.status <> 'decommissioned')"#,
            org.uuid(),
            calendar.uuid(),
            window.start().as_micros(),
            window.end().as_micros(),
        );
        let records = records.fetch_all(&self.connections).await.map_err(store_error)?;
        let Some(first) = records.first() else { return Ok(None) };
        let revision = Revision(first.revision);
        let reserved = first.reserved.as_deref().map(read_reservations).transpose()?.unwrap_or_default();
        let rows = records.into_iter().filter_map(|record| {
            Some(EventRow {
                id: record.id?,
                calendar_id: record.calendar_id?,
                content: record.content?,
                start_at: record.start_at?,
                end_at: record.end_at?,
                all_day: record.all_day?,
                status: record.status?,
                source: record.source?,
                reminders: record.reminders,
                version: record.version?,
                created_at: record.created_at?,
                updated_at: record.updated_at?,
                // A hold is neither a series nor an occurrence of one.
                recurrence: None,
                series_id: None,
                original_start: None,
                hold_expires_at: record.hold_expires_at,
                hold_priority: record.hold_priority,
                hold_scope: record.hold_scope,
                hold_set_id: record.hold_set_id,
                transparent: record.transparent?,
            })
        });
        let holds = rows.map(|row| row.open(org, &*self.cipher)).collect::<Result<_, _>>()?;
        Ok(Some(CalendarHolds { revision, holds, reserved }))
    }

    async fn live_holds(&self, org: OrgId, now: Timestamp, limit: u32) -> Result<Vec<LiveHold>, StoreError> {
        let records = sqlx::query!(
            r#"SELECT e.id, e.calendar_id, e.content, e.start_at, e.end_at, e.all_day, e.status, e.source,
                 e.reminders, e.version, e.created_at, e.updated_at, e.recurrence, e.series_id, e.original_start,
                 e.hold_expires_at, e.hold_priority, e.hold_scope, e.hold_set_id, e.transparent,
                 c.name AS "calendar_name!", c.timezone AS "timezone!"
             FROM events e
             JOIN calendars c ON c.org_id = e.org_id AND c.id = e.calendar_id
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE e.org_id = $1 AND e.status = 'hold' AND e.deleted_at IS NULL AND e.hold_expires_at > $2
                 AND c.org_id = $1 AND c.deleted_at IS NULL AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
             ORDER BY e.hold_expires_at, e.id LIMIT $3::bigint"#,
            org.uuid(),
            now.as_micros(),
            i64::from(limit),
        );
        let records = records.fetch_all(&self.connections).await.map_err(store_error)?;
        let read = records.into_iter().map(|record| {
            let event = event_row!(record).open(org, &*self.cipher)?;
            live_hold(event, record.calendar_name, &record.timezone)
        });
        read.collect()
    }

    async fn events_of_hold_set(&self, org: OrgId, set: HoldSetId) -> Result<Vec<OwnedEvent>, StoreError> {
        let records = sqlx::query!(
            r#"SELECT e.id, e.calendar_id, e.content, e.start_at, e.end_at, e.all_day, e.status, e.source,
                 e.reminders, e.version, e.created_at, e.updated_at, e.recurrence, e.series_id,
                 e.original_start, e.hold_expires_at, e.hold_priority, e.hold_scope, e.hold_set_id, e.transparent,
                 c.agent_id, c.timezone AS "timezone!", c.publication_policy AS "publication_policy?"
             FROM events e
             JOIN calendars c ON c.org_id = e.org_id AND c.id = e.calendar_id
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE e.org_id = $1 AND e.hold_set_id = $2 AND e.deleted_at IS NULL AND c.deleted_at IS NULL
                 AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
             ORDER BY e.id"#,
            org.uuid(),
            set.uuid(),
        );
        let records = records.fetch_all(&self.connections).await.map_err(store_error)?;
        let read = records.into_iter().map(|record| {
            let agent = record.agent_id.map(AgentId::from_uuid);
            let (timezone, policy) = (record.timezone, record.publication_policy);
            let event = event_row!(record).open(org, &*self.cipher)?;
            let publication = publication(event.calendar, &timezone, policy.as_deref())?;
            Ok(OwnedEvent { event, agent, publication })
        });
        read.collect()
    }

    async fn placer_of_hold_set(&self, org: OrgId, set: HoldSetId) -> Result<Option<AgentId>, StoreError> {
        let placer = sqlx::query_scalar!(
            "SELECT placed_by FROM events WHERE org_id = $1 AND hold_set_id = $2 AND placed_by IS NOT NULL LIMIT 1",
            org.uuid(),
            set.uuid(),
        );
        let placer = placer.fetch_optional(&self.connections).await.map_err(store_error)?.flatten();
        Ok(placer.map(AgentId::from_uuid))
    }

    async fn count_placed_holds(&self, org: OrgId, agent: AgentId, now: Timestamp) -> Result<u64, StoreError> {
        let placed = sqlx::query_scalar!(
            r#"SELECT count(*) AS "count!"
             FROM events e
             JOIN calendars c ON c.org_id = e.org_id AND c.id = e.calendar_id
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE e.org_id = $1 AND e.placed_by = $2 AND e.status = 'hold' AND e.deleted_at IS NULL
                 AND e.hold_expires_at > $3 AND c.agent_id IS DISTINCT FROM $2 AND c.deleted_at IS NULL
                 AND (c.agent_id IS NULL OR a.status <> 'decommissioned')"#,
            org.uuid(),
            agent.uuid(),
            now.as_micros(),
        );
        let placed = placed.fetch_one(&self.connections).await.map_err(store_error)?;
        Ok(u64::try_from(placed).unwrap_or_default())
    }

    async fn list_hold_sets(
        &self,
        org: OrgId,
        filter: HoldSetFilter,
        page: Page,
    ) -> Result<Listed<HoldSet>, StoreError> {
        let agent = filter.agent.map(|agent| agent.uuid());
        let (status, now) = filter.status.map(|at| (at.status.as_str(), at.now.as_micros())).unzip();
        let records = sqlx::query!(
            r#"WITH page AS MATERIALIZED (
                 SELECT e.hold_set_id AS id, count(*) OVER () AS total
                 FROM events e
                 JOIN calendars c ON c.org_id = e.org_id AND c.id = e.calendar_id
                 LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
                 WHERE e.org_id = $1 AND e.hold_set_id IS NOT NULL AND e.deleted_at IS NULL
                     AND c.deleted_at IS NULL AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
                 GROUP BY e.hold_set_id
                 HAVING ($2::uuid IS NULL OR bool_and(c.agent_id IS NOT DISTINCT FROM $2)
                         OR ($7::boolean AND bool_or(e.placed_by IS NOT DISTINCT FROM $2)))
                     AND ($3::text IS NULL OR bool_or(CASE WHEN e.status = 'hold' AND e.hold_expires_at <= $4
                         THEN 'cancelled' ELSE e.status END = $3))
                 ORDER BY e.hold_set_id LIMIT $5::bigint OFFSET $6::bigint
             )
             SELECT e.id, e.calendar_id, e.content, e.start_at, e.end_at, e.all_day, e.status, e.source,
                 e.reminders, e.version, e.created_at, e.updated_at, e.recurrence, e.series_id, e.original_start,
                 e.hold_expires_at, e.hold_priority, e.hold_scope, e.hold_set_id, e.transparent,
                 c.timezone AS "timezone!", c.publication_policy AS "publication_policy?", page.total AS "total!"
             FROM page
             JOIN events e ON e.org_id = $1 AND e.hold_set_id = page.id
             JOIN calendars c ON c.org_id = e.org_id AND c.id = e.calendar_id
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE e.deleted_at IS NULL AND c.deleted_at IS NULL
                 AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
             ORDER BY page.id, e.id"#,
            org.uuid(),
            agent,
            status,
            now,
            i64::from(page.limit),
            i64::from(page.offset),
            filter.or_placed,
        );
        let rows =
            rows_within(records.fetch(&self.connections), |record| sealed_weight(&record.content), PAGE_BYTES_MAX);
        let RowsWithin { rows, fetched } = rows.await.map_err(store_error)?;
        let (complete, counted) = (rows.len() == fetched, rows.first().map(|record| record.total));
        let events = rows.into_iter().map(|record| {
            let (timezone, policy) = (record.timezone, record.publication_policy);
            let event = event_row!(record).open(org, &*self.cipher)?;
            let publication = publication(event.calendar, &timezone, policy.as_deref())?;
            Ok((event, publication))
        });
        let data = HoldSet::group(events.collect::<Result<_, _>>()?, complete);
        let count = sqlx::query_scalar!(
            r#"SELECT count(*) AS "count!" FROM (
                 SELECT 1
                 FROM events e
                 JOIN calendars c ON c.org_id = e.org_id AND c.id = e.calendar_id
                 LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
                 WHERE e.org_id = $1 AND e.hold_set_id IS NOT NULL AND e.deleted_at IS NULL
                     AND c.deleted_at IS NULL AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
                 GROUP BY e.hold_set_id
                 HAVING ($2::uuid IS NULL OR bool_and(c.agent_id IS NOT DISTINCT FROM $2)
                         OR ($5::boolean AND bool_or(e.placed_by IS NOT DISTINCT FROM $2)))
                     AND ($3::text IS NULL OR bool_or(CASE WHEN e.status = 'hold' AND e.hold_expires_at <= $4
                         THEN 'cancelled' ELSE e.status END = $3))
             ) AS sets"#,
            org.uuid(),
            agent,
            status,
            now,
            filter.or_placed,
        );
        // The page's bound is in bytes, so its length does not determine the total.
        match counted {
            Some(total) => Ok(Listed { data, total: u64::try_from(total).unwrap_or(0) }),
            None => listed(data, page, None, count.fetch_one(&self.connections)).await,
        }
    }
}

/// The reservations in a JSON array of proposal, start, end and expiry.
fn read_reservations(rows: &str) -> Result<Vec<Reservation>, StoreError> {
    let all = Located { table: "reservations", id: "those of a calendar" };
    let rows: Vec<(String, i64, i64, i64)> = serde_json::from_str(rows).map_err(|error| all.corrupt("place", error))?;
    let read = rows.into_iter().map(|(owner, start, end, expires_at)| {
        let owner = Uuid::parse_str(&owner).map_err(|error| all.corrupt("proposal_id", error))?;
        let owner = ReservationOwner::from_uuid(owner);
        let span = Span::new(Timestamp::from_micros(start), Timestamp::from_micros(end))
            .map_err(|error| Located { table: "reservations", id: owner.uuid() }.corrupt("end_at", error))?;
        Ok(Reservation { owner, span, expires_at: Timestamp::from_micros(expires_at) })
    });
    read.collect()
}
