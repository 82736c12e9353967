//! The audit log.

use async_trait::async_trait;
use kalends_accounts::{Action, AuditEntry, AuditSearch, ports::AuditLog};
use kalends_kernel::{AgentId, AuditId, OrgId, RequestId, SignedDuration, StoreError, Timestamp};
use kalends_quotas::Plan;

use crate::{
    SqliteStore,
    error::store_error,
    rows::{Row, row_id},
};

struct AuditRow {
    id: Vec<u8>,
    action: String,
    actor_key_prefix: Option<String>,
    agent_id: Option<Vec<u8>>,
    resource: String,
    ip: Option<String>,
    status: i64,
    method: String,
    path: String,
    duration_us: i64,
    request_id: Vec<u8>,
    created_at: i64,
}

impl AuditRow {
    fn read(self, org: OrgId) -> Result<AuditEntry, StoreError> {
        let id = AuditId::from_uuid(row_id("audit_log", "id", &self.id)?);
        let row = Row { table: "audit_log", id: &id };
        let agent = self.agent_id.as_deref().map(|agent| row.uuid("agent_id", agent).map(AgentId::from_uuid));
        Ok(AuditEntry {
            id,
            org,
            action: row.named("action", Action::from_name, &self.action)?,
            actor_key_prefix: self.actor_key_prefix,
            agent: agent.transpose()?,
            resource: self.resource,
            ip: row.read("ip", self.ip.as_deref().map(str::parse).transpose())?,
            status: row.read("status", u16::try_from(self.status))?,
            method: self.method,
            path: self.path,
            duration: SignedDuration::micros(self.duration_us),
            request: RequestId::from_uuid(row.uuid("request_id", &self.request_id)?),
            created_at: Timestamp::from_micros(self.created_at),
        })
    }
}

#[async_trait]
impl AuditLog for SqliteStore {
    async fn audit_page(&self, org: OrgId, asked: &AuditSearch) -> Result<Vec<AuditEntry>, StoreError> {
        let org_id = org.uuid();
        let from = asked.range.from.map_or(i64::MIN, Timestamp::as_micros);
        let to = asked.range.to.as_micros();
        let (action, prefix) = (asked.action.map(Action::as_str), asked.actor_key_prefix.as_deref());
        // Without a cursor, the page starts at the newest entry.
        let (after_at, after_id) =
            asked.after.map_or((i64::MAX, uuid::Uuid::max()), |after| (after.created_at.as_micros(), after.id.uuid()));
        let rows = sqlx::query_as!(
            AuditRow,
            "select id, action, actor_key_prefix, agent_id, resource, ip, status, method, path, duration_us, request_id,
                created_at
             from audit_log
             where org_id = ?1 and created_at >= ?2 and created_at < ?3 and (created_at, id) < (?4, ?5)
                and (?6 is null or action = ?6) and (?7 is null or actor_key_prefix = ?7)
             order by created_at desc, id desc limit ?8",
            org_id,
            from,
            to,
            after_at,
            after_id,
            action,
            prefix,
            asked.limit
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        rows.into_iter().map(|row| row.read(org)).collect()
    }

    async fn purge_audit(&self, plan: Plan, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let (plan, before) = (plan.as_str(), before.as_micros());
        let mut writing = self.database.writer.take().await?;
        let purged = sqlx::query!(
            "delete from audit_log where rowid in (
                select a.rowid from organizations o cross join audit_log a on a.org_id = o.id and a.created_at < ?2
                where o.plan = ?1 limit ?3)",
            plan,
            before,
            limit
        )
        .execute(&mut writing.connection)
        .await;
        writing.done(purged).await
    }
}
