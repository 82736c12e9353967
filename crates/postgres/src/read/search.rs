//! Reads the events that a search compares with its words.

use futures::TryStreamExt as _;
use kalends_calendars::ports::SearchFilter;
use kalends_calendars::{
    Candidate, CandidateRows, Candidates, Event, Repeating, SearchPosition, series_to_search, with_first,
};
use kalends_kernel::{OrgId, PAGE_BYTES_MAX, StoreError};
use kalends_warm_pool::{RowsWithin, rows_within, sealed_weight};
use sqlx::{Connection as _, PgConnection};
use uuid::Uuid;

use crate::PostgresStore;
use crate::error::store_error;
use crate::rows::{EventRow, RepeatingRow};

impl PostgresStore {
    pub(super) async fn candidates(
        &self,
        org: OrgId,
        filter: SearchFilter,
        after: Option<SearchPosition>,
        limit: usize,
    ) -> Result<Candidates, StoreError> {
        let mut connection = self.connections.acquire().await.map_err(store_error)?;
        // All three statements see the same snapshot.
        let mut snapshot =
            connection.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await.map_err(store_error)?;
        let repeating = series(&mut snapshot, org, filter, after).await?;
        let singles = self.singles(&mut snapshot, org, filter, after, limit).await?;
        let until = singles.complete_until();
        let mut firsts = series_to_search(&repeating, filter.window, after, until);
        let too_many = firsts.len() > limit;
        firsts.truncate(limit);
        let ids: Vec<Uuid> = firsts.iter().map(|(id, _)| id.uuid()).collect();
        let RowsWithin { rows, fetched } = in_order(&mut snapshot, org, &ids).await?;
        snapshot.rollback().await.map_err(store_error)?;
        connection.keep();
        let cut = too_many || fetched > rows.len();
        let series = self.opened(org, rows)?;
        Ok(Candidates::merged(singles, CandidateRows { rows: with_first(series, &firsts), cut }, limit))
    }

    fn opened(&self, org: OrgId, rows: Vec<EventRow>) -> Result<Vec<Event>, StoreError> {
        rows.into_iter().map(|row| row.open(org, &*self.cipher)).collect()
    }

    /// The next one-off events and overrides that start in the window.
    async fn singles(
        &self,
        snapshot: &mut PgConnection,
        org: OrgId,
        filter: SearchFilter,
        after: Option<SearchPosition>,
        limit: usize,
    ) -> Result<CandidateRows, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let (after_start, after_id) = after.map(|after| (after.start.as_micros(), after.id.uuid())).unzip();
        // Each calendar's events are read by start, and no more of them than the limit.
        let rows = sqlx::query_as!(
            EventRow,
            r#"SELECT e.id, e.calendar_id, e.content, e.start_at, e.end_at, e.all_day, e.status, e.source, e.reminders,
                 e.version, e.created_at, e.updated_at, e.recurrence, e.series_id, e.original_start,
                 e.hold_expires_at, e.hold_priority, e.hold_scope, e.hold_set_id, e.transparent
             FROM calendars c
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             CROSS JOIN LATERAL (
                 SELECT * FROM events
                 WHERE org_id = c.org_id AND calendar_id = c.id AND recurrence IS NULL AND deleted_at IS NULL
                     AND start_at >= CASE WHEN c.id = $6 THEN $7::bigint ELSE $4::bigint END AND start_at < $5
                     AND ($6::uuid IS NULL OR c.id <> $6 OR start_at > $7 OR id > $8)
                 ORDER BY start_at, id
                 LIMIT $9
             ) e
             WHERE c.org_id = $1 AND ($2::uuid IS NULL OR c.id = $2) AND ($3::uuid IS NULL OR c.agent_id = $3)
                 AND c.deleted_at IS NULL AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
                 AND ($6::uuid IS NULL OR c.id >= $6)
             ORDER BY c.id, e.start_at, e.id
             LIMIT $9"#,
            org.uuid(),
            filter.calendar.map(|id| id.uuid()),
            filter.agent.map(|id| id.uuid()),
            filter.window.start().as_micros(),
            filter.window.end().as_micros(),
            after.map(|after| after.calendar.uuid()),
            after_start,
            after_id,
            limit,
        );
        // The rows are opened while the next ones are read, but not those that are dropped.
        let mut bytes = 0;
        let opened = rows.fetch(snapshot).map_ok(|row| {
            let weight = sealed_weight(&row.content);
            let event = (bytes < PAGE_BYTES_MAX).then(|| row.open(org, &*self.cipher));
            bytes += weight;
            (weight, event)
        });
        let RowsWithin { rows, fetched } =
            rows_within(opened, |(weight, _)| *weight, PAGE_BYTES_MAX).await.map_err(store_error)?;
        let cut = fetched > rows.len() || i64::try_from(fetched) == Ok(limit);
        let rows =
            rows.into_iter().filter_map(|(_, event)| Some(event?.map(Candidate::single))).collect::<Result<_, _>>()?;
        Ok(CandidateRows { rows, cut })
    }
}

/// The series that may have an occurrence in the window.
async fn series(
    snapshot: &mut PgConnection,
    org: OrgId,
    filter: SearchFilter,
    after: Option<SearchPosition>,
) -> Result<Vec<Repeating>, StoreError> {
    // The subquery that ends with OFFSET is evaluated for each calendar; otherwise Postgres may read all series of
    // the organization.
    let records = sqlx::query!(
        r#"SELECT e.id, c.id AS calendar_id, e.start_at, e.end_at, e.all_day, e.recurrence AS "recurrence!"
         FROM calendars c
         LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
         CROSS JOIN LATERAL (
             SELECT id, start_at, end_at, all_day, recurrence FROM events
             WHERE org_id = c.org_id AND calendar_id = c.id AND recurrence IS NOT NULL AND deleted_at IS NULL
                 AND reaches > $4 AND start_at < $5
             OFFSET 0
         ) e
         WHERE c.org_id = $1 AND ($2::uuid IS NULL OR c.id = $2) AND ($3::uuid IS NULL OR c.agent_id = $3)
             AND c.deleted_at IS NULL AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
             AND ($6::uuid IS NULL OR c.id >= $6)"#,
        org.uuid(),
        filter.calendar.map(|id| id.uuid()),
        filter.agent.map(|id| id.uuid()),
        filter.window.start().as_micros(),
        filter.window.end().as_micros(),
        after.map(|after| after.calendar.uuid()),
    );
    let records = records.fetch_all(snapshot).await.map_err(store_error)?;
    let read = records.iter().map(|record| {
        RepeatingRow {
            id: &record.id,
            calendar_id: &record.calendar_id,
            start_at: record.start_at,
            end_at: record.end_at,
            all_day: record.all_day,
            recurrence: &record.recurrence,
        }
        .into_domain()
    });
    read.collect()
}

/// The rows of these events, in this order.
async fn in_order(snapshot: &mut PgConnection, org: OrgId, ids: &[Uuid]) -> Result<RowsWithin<EventRow>, StoreError> {
    if ids.is_empty() {
        return Ok(RowsWithin { rows: Vec::new(), fetched: 0 });
    }
    let rows = sqlx::query_as!(
        EventRow,
        "SELECT e.id, e.calendar_id, e.content, e.start_at, e.end_at, e.all_day, e.status, e.source, e.reminders,
             e.version, e.created_at, e.updated_at, e.recurrence, e.series_id, e.original_start,
             e.hold_expires_at, e.hold_priority, e.hold_scope, e.hold_set_id, e.transparent
         FROM unnest($2::uuid[]) WITH ORDINALITY AS asked (id, place)
         JOIN events e ON e.org_id = $1 AND e.id = asked.id
         ORDER BY asked.place",
        org.uuid(),
        ids,
    );
    rows_within(rows.fetch(snapshot), |row| sealed_weight(&row.content), PAGE_BYTES_MAX).await.map_err(store_error)
}
