//! Reads and purges the audit log.

use async_trait::async_trait;
use kalends_accounts::ports::AuditLog;
use kalends_accounts::{Action, AuditEntry, AuditSearch};
use kalends_kernel::{OrgId, StoreError};
use kalends_plans::Plan;
use kalends_time::Timestamp;
use uuid::Uuid;

use crate::PostgresStore;
use crate::error::store_error;
use crate::retry::retried;
use crate::rows::AuditRow;

#[async_trait]
impl AuditLog for PostgresStore {
    async fn audit_page(&self, org: OrgId, search: &AuditSearch) -> Result<Vec<AuditEntry>, StoreError> {
        // Without a cursor, the page starts at the newest entry.
        let (after_at, after_id) =
            search.after.map_or((i64::MAX, Uuid::max()), |after| (after.created_at.as_micros(), after.id.uuid()));
        let rows = sqlx::query_as!(
            AuditRow,
            "SELECT id, action, actor_key_prefix, agent_id, resource, ip, status, method, path, duration_us, request_id,
                 created_at
             FROM audit_log
             WHERE org_id = $1 AND created_at >= $2 AND created_at < $3 AND (created_at, id) < ($4, $5)
                 AND ($6::text IS NULL OR action = $6) AND ($7::text IS NULL OR actor_key_prefix = $7)
                 AND ($8::uuid IS NULL OR agent_id = $8)
             ORDER BY created_at DESC, id DESC
             LIMIT $9",
            org.uuid(),
            search.range.from.map_or(i64::MIN, |from| from.as_micros()),
            search.range.to.as_micros(),
            after_at,
            after_id,
            search.action.map(Action::as_str),
            search.actor_key_prefix.as_deref(),
            search.agent.map(|agent| agent.uuid()),
            i64::from(search.limit),
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        rows.into_iter().map(|row| row.into_domain(org)).collect()
    }

    async fn purge_audit(&self, plan: Plan, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let purged = retried(|| {
            sqlx::query!(
                "DELETE FROM audit_log WHERE (org_id, id) IN (
                     SELECT a.org_id, a.id FROM organizations o
                     JOIN audit_log a ON a.org_id = o.id AND a.created_at < $2
                     WHERE o.plan = $1
                     LIMIT $3
                 )",
                plan.as_str(),
                before.as_micros(),
                i64::from(limit),
            )
            .execute(&self.connections)
        });
        Ok(purged.await.map_err(store_error)?.rows_affected())
    }
}
