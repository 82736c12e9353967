//! Reads the events that a search compares with its words.

use futures::TryStreamExt as _;
use kalends_calendars::{
    Candidate, CandidateRows, Candidates, Repeating, SearchPosition, ports::SearchFilter, series_to_search, with_first,
};
use kalends_kernel::{EventId, OrgId, PAGE_BYTES_MAX, StoreError};
use kalends_warm_pool::{RowsWithin, rows_within, sealed_weight};
use sqlx::SqliteConnection;

use crate::{
    SqliteStore,
    error::store_error,
    json::{self, Hex},
    rows::{EventRow, RepeatingRow},
};

impl SqliteStore {
    pub(super) async fn candidates(
        &self,
        org: OrgId,
        filter: SearchFilter,
        after: Option<SearchPosition>,
        limit: usize,
    ) -> Result<Candidates, StoreError> {
        self.snapshot(async |snapshot| {
            let repeating = series(snapshot, org, filter, after).await?;
            let singles = self.singles(snapshot, org, filter, after, limit).await?;
            let until = singles.complete_until();
            let mut firsts = series_to_search(&repeating, filter.window, after, until);
            let too_many = firsts.len() > limit;
            firsts.truncate(limit);
            let ids: Vec<EventId> = firsts.iter().map(|(id, _)| *id).collect();
            let RowsWithin { rows, fetched } = in_order(snapshot, org, &ids).await?;
            let cut = too_many || fetched > rows.len();
            let series = self.read_events(org, rows)?;
            Ok(Candidates::merged(singles, CandidateRows { rows: with_first(series, &firsts), cut }, limit))
        })
        .await
    }

    /// The next one-off events and overrides that start in the window.
    async fn singles(
        &self,
        snapshot: &mut SqliteConnection,
        org: OrgId,
        filter: SearchFilter,
        after: Option<SearchPosition>,
        limit: usize,
    ) -> Result<CandidateRows, StoreError> {
        let (org_id, from, to) = (org.uuid(), filter.window.start().as_micros(), filter.window.end().as_micros());
        let (calendar, agent) = (filter.calendar.map(|id| id.uuid()), filter.agent.map(|id| id.uuid()));
        let begun = after.map(|after| after.calendar.uuid());
        let (after_start, after_id) = after.map(|after| (after.start.as_micros(), after.id.uuid())).unzip();
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        // The calendars are read by their keys and each one's events by start, so nothing is sorted, and reading ends at the
        // limit.
        let rows = sqlx::query_as!(
            EventRow,
            r#"select e.id as "id!", e.calendar_id as "calendar_id!", e.content as "content!", e.start_at as "start_at!",
                e.end_at as "end_at!", e.all_day as "all_day!: bool", e.status as "status!", e.source as "source!",
                e.reminders, e.version as "version!", e.created_at as "created_at!", e.updated_at as "updated_at!",
                e.recurrence, e.series_id, e.original_start, e.hold_expires_at, e.hold_priority, e.hold_scope,
                e.hold_set_id, e.transparent as "transparent!: bool"
             from calendars c left join agents a on a.org_id = c.org_id and a.id = c.agent_id
                cross join events e on e.org_id = ?1 and e.calendar_id = c.id
             where c.org_id = ?1 and (?2 is null or c.id = ?2) and (?3 is null or c.agent_id = ?3)
                and c.deleted_at is null and (c.agent_id is null or a.status <> 'decommissioned')
                and (?6 is null or c.id >= ?6)
                and e.recurrence is null and e.deleted_at is null
                and e.start_at >= iif(c.id = ?6, ?7, ?4) and e.start_at < ?5
                and (?6 is null or c.id <> ?6 or e.start_at > ?7 or e.id > ?8)
             order by c.id, e.start_at, e.id limit ?9"#,
            org_id,
            calendar,
            agent,
            from,
            to,
            begun,
            after_start,
            after_id,
            limit
        )
        .fetch(snapshot);
        // The rows are opened while the next ones are read, but not those that are dropped.
        let mut bytes = 0;
        let opened = rows.map_ok(|row| {
            let weight = sealed_weight(&row.content);
            let event = (bytes < PAGE_BYTES_MAX).then(|| row.open(org, self.cipher.as_ref()));
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
    snapshot: &mut SqliteConnection,
    org: OrgId,
    filter: SearchFilter,
    after: Option<SearchPosition>,
) -> Result<Vec<Repeating>, StoreError> {
    let (org_id, from, to) = (org.uuid(), filter.window.start().as_micros(), filter.window.end().as_micros());
    let (calendar, agent) = (filter.calendar.map(|id| id.uuid()), filter.agent.map(|id| id.uuid()));
    let begun = after.map(|after| after.calendar.uuid());
    let found = sqlx::query!(
        r#"select e.id, e.calendar_id, e.start_at, e.end_at, e.all_day, e.recurrence as "recurrence!"
         from calendars c left join agents a on a.org_id = c.org_id and a.id = c.agent_id
            cross join events e on e.org_id = ?1 and e.calendar_id = c.id
         where c.org_id = ?1 and (?2 is null or c.id = ?2) and (?3 is null or c.agent_id = ?3)
            and c.deleted_at is null and (c.agent_id is null or a.status <> 'decommissioned')
            and (?6 is null or c.id >= ?6)
            and e.recurrence is not null and e.deleted_at is null and e.reaches > ?4 and e.start_at < ?5"#,
        org_id,
        calendar,
        agent,
        from,
        to,
        begun
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

/// The rows of these events, in this order.
async fn in_order(
    snapshot: &mut SqliteConnection,
    org: OrgId,
    ids: &[EventId],
) -> Result<RowsWithin<EventRow>, StoreError> {
    if ids.is_empty() {
        return Ok(RowsWithin { rows: Vec::new(), fetched: 0 });
    }
    let org_id = org.uuid();
    let ids: Vec<Hex> = ids.iter().map(|id| Hex(id.uuid())).collect();
    let ids = json::rows(&ids).map_err(store_error)?;
    let rows = sqlx::query_as!(
        EventRow,
        "select e.id, e.calendar_id, e.content, e.start_at, e.end_at, e.all_day, e.status, e.source, e.reminders,
            e.version, e.created_at, e.updated_at, e.recurrence, e.series_id, e.original_start,
            e.hold_expires_at, e.hold_priority, e.hold_scope, e.hold_set_id, e.transparent
         from json_each(?2) asked cross join events e on e.org_id = ?1 and e.id = unhex(asked.value)
         order by asked.key + 0",
        org_id,
        ids
    )
    .fetch(snapshot);
    rows_within(rows, |row| sealed_weight(&row.content), PAGE_BYTES_MAX).await.map_err(store_error)
}
