//! Reads and purges the audit log.

use async_trait::async_trait;
use kalends_accounts::ports::AuditLog;
use kalends_accounts::{Action, AuditEntry, AuditSearch};
use kalends_kernel::{AgentId, AuditId, OrgId, RequestId, SignedDuration, StoreError, Timestamp};
use kalends_quotas::Plan;
use uuid::Uuid;

use crate::PostgresStore;
use crate::error::store_error;
use crate::retry::retried;
use crate::rows::Located;

/// The columns of an entry, except the organization.
struct AuditRow {
    id: Uuid,
    action: String,
    actor_key_prefix: Option<String>,
    agent_id: Option<Uuid>,
    resource: String,
    ip: Option<String>,
    status: i32,
    method: String,
    path: String,
    duration_us: i64,
    request_id: Uuid,
    created_at: i64,
}

impl AuditRow {
    fn into_domain(self, org: OrgId) -> Result<AuditEntry, StoreError> {
        let id = AuditId::from_uuid(self.id);
        let row = Located { table: "audit_log", id };
        let ip = self.ip.as_deref().map(str::parse).transpose();
        Ok(AuditEntry {
            id,
            org,
            action: row.named("action", &self.action, Action::from_name)?,
            actor_key_prefix: self.actor_key_prefix,
            agent: self.agent_id.map(AgentId::from_uuid),
            resource: self.resource,
            ip: ip.map_err(|error| row.corrupt("ip", error))?,
            status: u16::try_from(self.status).map_err(|error| row.corrupt("status", error))?,
            method: self.method,
            path: self.path,
            duration: SignedDuration::micros(self.duration_us),
            request: RequestId::from_uuid(self.request_id),
            created_at: Timestamp::from_micros(self.created_at),
        })
    }
}

#[async_trait]
impl AuditLog for PostgresStore {
    async fn audit_page(&self, org: OrgId, asked: &AuditSearch) -> Result<Vec<AuditEntry>, StoreError> {
        // Without a cursor, the page starts at the newest entry.
        let (after_at, after_id) =
            asked.after.map_or((i64::MAX, Uuid::max()), |after| (after.created_at.as_micros(), after.id.uuid()));
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
            asked.range.from.map_or(i64::MIN, |from| from.as_micros()),
            asked.range.to.as_micros(),
            after_at,
            after_id,
            asked.action.map(Action::as_str),
            asked.actor_key_prefix.as_deref(),
            i64::from(asked.limit),
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
