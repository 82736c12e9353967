//! Reads and purges the audit log.

use async_trait::async_trait;
use kalends_accounts::ports::AuditLog;
use kalends_accounts::{Action, AuditEntry, AuditSearch};
use kalends_kernel::{AgentId, OrgId, StoreError};
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
        if let Some(agent) = search.agent {
            return self.audit_page_of(org, agent, search).await;
        }
        let (after_at, after_id) = after(search);
        let rows = sqlx::query_as!(
            AuditRow,
            "SELECT id, action, actor_key_prefix, agent_id, resource, ip, status, method, path, duration_us, request_id,
                 created_at
             FROM audit_log
             WHERE org_id = $1 AND created_at >= $2 AND created_at < $3 AND (created_at, id) < ($4, $5)
                 AND ($6::text IS NULL OR action = $6) AND ($7::text IS NULL OR actor_key_prefix = $7)
             ORDER BY created_at DESC, id DESC
             LIMIT $8",
            org.uuid(),
            search.range.from.map_or(i64::MIN, |from| from.as_micros()),
            search.range.to.as_micros(),
            after_at,
            after_id,
            search.action.map(Action::as_str),
            search.actor_key_prefix.as_deref(),
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

/// The place of the cursor. Without one, the page starts at the newest entry.
fn after(search: &AuditSearch) -> (i64, Uuid) {
    search.after.map_or((i64::MAX, Uuid::max()), |after| (after.created_at.as_micros(), after.id.uuid()))
}

impl PostgresStore {
    /// A page of the entries about one agent. A query of its own can use the index of agents with every plan.
    async fn audit_page_of(
        &self,
        org: OrgId,
        agent: AgentId,
        search: &AuditSearch,
    ) -> Result<Vec<AuditEntry>, StoreError> {
        let (after_at, after_id) = after(search);
        let rows = sqlx::query_as!(
            AuditRow,
            "SELECT id, action, actor_key_prefix, agent_id, resource, ip, status, method, path, duration_us, request_id,
                 created_at
             FROM audit_log
             WHERE org_id = $1 AND agent_id = $2 AND created_at >= $3 AND created_at < $4
                 AND (created_at, id) < ($5, $6)
                 AND ($7::text IS NULL OR action = $7) AND ($8::text IS NULL OR actor_key_prefix = $8)
             ORDER BY created_at DESC, id DESC
             LIMIT $9",
            org.uuid(),
            agent.uuid(),
            search.range.from.map_or(i64::MIN, |from| from.as_micros()),
            search.range.to.as_micros(),
            after_at,
            after_id,
            search.action.map(Action::as_str),
            search.actor_key_prefix.as_deref(),
            i64::from(search.limit),
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        rows.into_iter().map(|row| row.into_domain(org)).collect()
    }
}
