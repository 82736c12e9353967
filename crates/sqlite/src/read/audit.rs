//! The audit log.

use async_trait::async_trait;
use kalends_accounts::{Action, AuditEntry, AuditSearch, ports::AuditLog};
use kalends_kernel::{OrgId, StoreError};
use kalends_plans::Plan;
use kalends_time::Timestamp;

use crate::{SqliteStore, error::store_error, rows::AuditRow};

#[async_trait]
impl AuditLog for SqliteStore {
    async fn audit_page(&self, org: OrgId, search: &AuditSearch) -> Result<Vec<AuditEntry>, StoreError> {
        let org_id = org.uuid();
        let from = search.range.from.map_or(i64::MIN, Timestamp::as_micros);
        let to = search.range.to.as_micros();
        let (action, prefix) = (search.action.map(Action::as_str), search.actor_key_prefix.as_deref());
        let agent = search.agent.map(|agent| agent.uuid());
        // Without a cursor, the page starts at the newest entry.
        let (after_at, after_id) =
            search.after.map_or((i64::MAX, uuid::Uuid::max()), |after| (after.created_at.as_micros(), after.id.uuid()));
        let rows = sqlx::query_as!(
            AuditRow,
            "select id, action, actor_key_prefix, agent_id, resource, ip, status, method, path, duration_us, request_id,
                created_at
             from audit_log
             where org_id = ?1 and created_at >= ?2 and created_at < ?3 and (created_at, id) < (?4, ?5)
                and (?6 is null or action = ?6) and (?7 is null or actor_key_prefix = ?7)
                and (?8 is null or agent_id = ?8)
             order by created_at desc, id desc limit ?9",
            org_id,
            from,
            to,
            after_at,
            after_id,
            action,
            prefix,
            agent,
            search.limit
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        rows.into_iter().map(|row| row.into_domain(org)).collect()
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
