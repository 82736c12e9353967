//! The journal of runs.

use std::collections::BTreeMap;

use async_trait::async_trait;
use kalends_calendars::Event;
use kalends_kernel::{AgentId, EventId, OrgId, StoreError};
use kalends_rows::run_owner;
use kalends_runs::{Entry, Kept, RunKey, ports::Runs};
use kalends_time::Timestamp;
use uuid::Uuid;

use crate::PostgresStore;
use crate::error::store_error;
use crate::retry::retried;
use crate::rows::{RunWriteRow, event_row};

#[async_trait]
impl Runs for PostgresStore {
    async fn run_writes(&self, org: OrgId, run: &RunKey) -> Result<Vec<Entry>, StoreError> {
        let rows = sqlx::query_as!(
            RunWriteRow,
            "SELECT id, operation, resource_type, resource_id, state, version, written_at, undone_at
             FROM run_writes
             WHERE org_id = $1 AND owner = $2 AND name = $3
             ORDER BY written_at, id",
            org.uuid(),
            run_owner(run),
            run.name.as_str(),
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        rows.into_iter().map(|row| row.open(org, &*self.cipher)).collect()
    }

    async fn count_run_writes(&self, org: OrgId, run: &RunKey) -> Result<u64, StoreError> {
        let counted = sqlx::query_scalar!(
            r#"SELECT count(*) AS "count!" FROM run_writes WHERE org_id = $1 AND owner = $2 AND name = $3"#,
            org.uuid(),
            run_owner(run),
            run.name.as_str(),
        );
        let counted = counted.fetch_one(&self.connections).await.map_err(store_error)?;
        Ok(counted.cast_unsigned())
    }

    async fn kept_events(&self, org: OrgId, ids: &[EventId]) -> Result<Vec<Kept>, StoreError> {
        let ids: Vec<Uuid> = ids.iter().map(|id| id.uuid()).collect();
        // The subqueries that end with OFFSET are evaluated for each event; otherwise Postgres may read all events or
        // calendars of the organization.
        let records = sqlx::query!(
            "SELECT e.id, e.calendar_id, e.content, e.start_at, e.end_at, e.all_day, e.status, e.source,
                 e.reminders, e.version, e.created_at, e.updated_at, e.deleted_at, e.recurrence, e.series_id,
                 e.original_start, e.hold_expires_at, e.hold_priority, e.hold_scope, e.hold_set_id, e.transparent,
                 c.agent_id
             FROM unnest($2::uuid[]) AS asked (id)
             CROSS JOIN LATERAL (SELECT * FROM events WHERE org_id = $1 AND id = asked.id OFFSET 0) e
             CROSS JOIN LATERAL (
                 SELECT c.agent_id FROM calendars c WHERE c.org_id = $1 AND c.id = e.calendar_id OFFSET 0
             ) c
             ORDER BY e.id",
            org.uuid(),
            &ids,
        );
        let records = records.fetch_all(&self.connections).await.map_err(store_error)?;
        let mut kept = Vec::with_capacity(records.len());
        for record in records {
            let agent = record.agent_id.map(AgentId::from_uuid);
            let deleted_at = record.deleted_at.map(Timestamp::from_micros);
            let event = event_row!(record).open(org, &*self.cipher)?;
            kept.push(Kept { event: Event { deleted_at, ..event }, agent });
        }
        Ok(kept)
    }

    async fn purge_run_writes(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let found = sqlx::query!(
            "SELECT w.org_id, w.id FROM run_writes w
             WHERE w.written_at <= $1 AND NOT EXISTS (
                 SELECT 1 FROM run_writes later
                 WHERE later.org_id = w.org_id AND later.owner = w.owner AND later.name = w.name
                     AND later.written_at > $1
             )
             ORDER BY w.written_at LIMIT $2",
            before.as_micros(),
            i64::from(limit),
        );
        let mut of: BTreeMap<Uuid, Vec<Uuid>> = BTreeMap::new();
        for row in found.fetch_all(&self.connections).await.map_err(store_error)? {
            of.entry(row.org_id).or_default().push(row.id);
        }
        let mut purged = 0;
        // Each statement locks rows of one organization, and skips those that others hold.
        for (org_id, ids) in of {
            let deleted = retried(|| {
                sqlx::query!(
                    "DELETE FROM run_writes WHERE org_id = $1 AND id IN (
                         SELECT w.id
                         FROM unnest($2::uuid[]) AS row (id)
                         JOIN run_writes w ON w.org_id = $1 AND w.id = row.id
                         WHERE w.written_at <= $3 AND NOT EXISTS (
                             SELECT 1 FROM run_writes later
                             WHERE later.org_id = $1 AND later.owner = w.owner AND later.name = w.name
                                 AND later.written_at > $3
                         )
                         ORDER BY w.id FOR UPDATE OF w SKIP LOCKED
                     )",
                    org_id,
                    &ids,
                    before.as_micros(),
                )
                .execute(&self.connections)
            });
            purged += deleted.await.map_err(store_error)?.rows_affected();
        }
        Ok(purged)
    }
}
