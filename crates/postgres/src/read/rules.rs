//! Reads the availability rules of visible calendars, and what blocks their time.

use async_trait::async_trait;
use kalends_calendars::Block;
use kalends_calendars::ports::{BusySource, CalendarBlocks, LONG, RulesOfCalendars};
use kalends_calendars::{AvailabilityRules, EventSource, EventStatus, block_kind};
use kalends_kernel::{AgentId, CalendarId, OrgId, Revision, StoreError};
use kalends_time::{Span, Timestamp};
use uuid::Uuid;

use crate::PostgresStore;
use crate::error::store_error;
use crate::rows::{Located, RulesRow, read_rules};

#[async_trait]
impl RulesOfCalendars for PostgresStore {
    async fn find_rules(&self, org: OrgId, calendar: CalendarId) -> Result<Option<AvailabilityRules>, StoreError> {
        let row = sqlx::query_as!(
            RulesRow,
            "SELECT r.calendar_id, r.id, r.rules, r.version, r.created_at, r.updated_at
             FROM availability_rules r
             JOIN calendars c ON c.org_id = r.org_id AND c.id = r.calendar_id
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE r.org_id = $1 AND r.calendar_id = $2 AND c.deleted_at IS NULL
                 AND (c.agent_id IS NULL OR a.status <> 'decommissioned')",
            org.uuid(),
            calendar.uuid(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        row.map(|row| row.into_domain(org)).transpose()
    }

    async fn rules_of_calendars(
        &self,
        org: OrgId,
        calendars: &[CalendarId],
    ) -> Result<Vec<AvailabilityRules>, StoreError> {
        if calendars.is_empty() {
            return Ok(Vec::new());
        }
        let wanted: Vec<Uuid> = calendars.iter().map(|calendar| calendar.uuid()).collect();
        // The subqueries that end with OFFSET are evaluated for each calendar; otherwise Postgres may read all
        // calendars of the organization.
        let rows = sqlx::query_as!(
            RulesRow,
            r#"SELECT r.calendar_id AS "calendar_id!", r.id AS "id!", r.rules AS "rules!", r.version AS "version!",
                 r.created_at AS "created_at!", r.updated_at AS "updated_at!"
             FROM (SELECT DISTINCT unnest($2::uuid[]) AS id) asked
             CROSS JOIN LATERAL (
                 SELECT c.id
                 FROM calendars c
                 LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
                 WHERE c.org_id = $1 AND c.id = asked.id AND c.deleted_at IS NULL
                     AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
                 OFFSET 0
             ) c
             CROSS JOIN LATERAL (
                 SELECT * FROM availability_rules WHERE org_id = $1 AND calendar_id = c.id OFFSET 0
             ) r"#,
            org.uuid(),
            &wanted,
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        rows.into_iter().map(|row| row.into_domain(org)).collect()
    }
}

impl PostgresStore {
    pub(super) async fn read_blocks(
        &self,
        org: OrgId,
        calendar: CalendarId,
        window: Span,
        limit: u32,
    ) -> Result<Option<CalendarBlocks>, StoreError> {
        // If the calendar is visible, there is at least one row: without events, it has NULLs for the event.
        //
        // `(SELECT $n)` hides a value from the planner. Otherwise Postgres plans the statement for the values on each
        // execution, which takes longer than the execution. `ORDER BY start_at` makes it use `events_busy` and
        // `events_holds` even if it has no statistics yet. (In `EXISTS`, Postgres ignores the order.)
        let records = sqlx::query!(
            r#"SELECT c.agent_id, c.revision, r.rules AS "rules?",
                 (EXISTS (SELECT 1 FROM availability_grants g WHERE g.org_id = $1 AND g.audience = 'all')
                     OR EXISTS (SELECT 1 FROM availability_grant_agents n
                                WHERE n.org_id = $1 AND n.agent_id = c.agent_id)) AS "granted!",
                 EXISTS (SELECT 1 FROM events e
                         WHERE e.org_id = $1 AND e.calendar_id = (SELECT $2::uuid) AND e.recurrence IS NOT NULL
                             AND e.deleted_at IS NULL AND e.reaches > (SELECT $4::bigint)
                             AND e.start_at < (SELECT $5::bigint)) AS "repeats!",
                 (SELECT e.start_at FROM events e
                  WHERE e.org_id = $1 AND e.calendar_id = (SELECT $2::uuid) AND e.status = 'hold'
                      AND e.deleted_at IS NULL
                  ORDER BY e.start_at LIMIT 1) IS NOT NULL
                     OR EXISTS (SELECT 1 FROM reservations v
                                WHERE v.org_id = $1 AND v.calendar_id = $2) AS "held!",
                 e.start_at AS "start_at?", e.end_at AS "end_at?", e.status AS "status?",
                 e.source AS "source?"
             FROM calendars c
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             LEFT JOIN availability_rules r ON r.org_id = c.org_id AND r.calendar_id = c.id
             LEFT JOIN (
                 SELECT start_at, end_at, status, source
                 FROM (
                     (SELECT start_at, end_at, status, source FROM events
                      WHERE org_id = $1 AND calendar_id = (SELECT $2::uuid) AND busy IS NOT NULL
                          AND start_at > (SELECT $3::bigint) AND start_at < (SELECT $5::bigint)
                          AND end_at > (SELECT $4::bigint) AND end_at - start_at <= 86400000000
                      ORDER BY start_at)
                     UNION ALL
                     SELECT start_at, end_at, status, source FROM events
                     WHERE org_id = $1 AND calendar_id = (SELECT $2::uuid) AND busy IS NOT NULL
                         AND end_at - start_at > 86400000000 AND end_at > (SELECT $4::bigint)
                         AND start_at < (SELECT $5::bigint)
                 ) AS blocking
                 ORDER BY start_at, end_at
                 LIMIT $6
             ) AS e ON true
             WHERE c.org_id = $1 AND c.id = $2 AND c.deleted_at IS NULL
                 AND (c.agent_id IS NULL OR a.status <> 'decommissioned')"#,
            org.uuid(),
            calendar.uuid(),
            (window.start() - LONG).as_micros(),
            window.start().as_micros(),
            window.end().as_micros(),
            i64::from(limit),
        );
        let records = records.fetch_all(&self.connections).await.map_err(store_error)?;
        let Some(first) = records.first() else { return Ok(None) };
        let rules = first.rules.as_deref().map(|document| read_rules(calendar, document)).transpose()?;
        let (agent, revision) = (first.agent_id.map(AgentId::from_uuid), Revision(first.revision));
        let source = BusySource { agent, calendar, revision, granted: first.granted };
        let (repeats, held) = (first.repeats, first.held);
        let mut blocks = Vec::with_capacity(records.len());
        for record in records {
            let (Some(start), Some(end), Some(status), Some(source)) =
                (record.start_at, record.end_at, record.status, record.source)
            else {
                continue;
            };
            let row = Located { table: "events", id: format!("an event of {calendar}") };
            let status = row.named("status", &status, EventStatus::from_name)?;
            let source = row.named("source", &source, EventSource::from_name)?;
            let span = Span::new(Timestamp::from_micros(start), Timestamp::from_micros(end))
                .map_err(|error| row.corrupt("end_at", error))?;
            blocks.push(Block { kind: block_kind(status, source), span });
        }
        blocks.sort_by_key(|block| (block.span, block.kind));
        Ok(Some(CalendarBlocks { source, rules, blocks, repeats, held }))
    }
}
