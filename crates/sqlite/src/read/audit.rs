//! The audit log.

use std::cmp::Reverse;

use async_trait::async_trait;
use kalends_accounts::{Action, AuditEntry, AuditSearch, ports::AuditLog};
use kalends_kernel::{AgentId, OrgId, StoreError};
use kalends_plans::Plan;
use kalends_time::Timestamp;
use uuid::Uuid;

use crate::{SqliteStore, error::store_error, json, rows::AuditRow};

#[async_trait]
impl AuditLog for SqliteStore {
    async fn audit_page(&self, org: OrgId, search: &AuditSearch) -> Result<Vec<AuditEntry>, StoreError> {
        if let Some(agent) = search.agent {
            return self.audit_page_of(org, agent, search).await;
        }
        let org_id = org.uuid();
        let from = search.range.from.map_or(i64::MIN, Timestamp::as_micros);
        let to = search.range.to.as_micros();
        let (action, prefix) = (search.action.map(Action::as_str), search.actor_key_prefix.as_deref());
        let (after_at, after_id) = after(search);
        let pack = sqlx::query_scalar!(
            r#"select json_group_array(json_array(hex(id), action, actor_key_prefix,
                iif(agent_id is null, null, hex(agent_id)), resource, ip, status, method, path, duration_us,
                hex(request_id), created_at)) as "pack!: String"
             from (
                select * from audit_log
                where org_id = ?1 and created_at >= ?2 and created_at < ?3 and (created_at, id) < (?4, ?5)
                    and (?6 is null or action = ?6) and (?7 is null or actor_key_prefix = ?7)
                order by created_at desc, id desc limit ?8
             )"#,
            org_id,
            from,
            to,
            after_at,
            after_id,
            action,
            prefix,
            search.limit
        )
        .fetch_one(self.readers())
        .await
        .map_err(store_error)?;
        unpacked(&pack, org)
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

/// The place of the cursor. Without one, the page starts at the newest entry.
fn after(search: &AuditSearch) -> (i64, Uuid) {
    search.after.map_or((i64::MAX, Uuid::max()), |after| (after.created_at.as_micros(), after.id.uuid()))
}

/// The entries of a pack, the newest first.
fn unpacked(pack: &str, org: OrgId) -> Result<Vec<AuditEntry>, StoreError> {
    let rows: Vec<AuditRow> = json::packed(pack).map_err(store_error)?;
    let mut entries = rows.into_iter().map(|row| row.into_domain(org)).collect::<Result<Vec<_>, _>>()?;
    // An aggregate does not guarantee an order.
    entries.sort_unstable_by_key(|entry| Reverse((entry.created_at, entry.id)));
    Ok(entries)
}

impl SqliteStore {
    /// A page of the entries about one agent. Only a query of its own can use the index of agents.
    async fn audit_page_of(
        &self,
        org: OrgId,
        agent: AgentId,
        search: &AuditSearch,
    ) -> Result<Vec<AuditEntry>, StoreError> {
        let (org_id, agent_id) = (org.uuid(), agent.uuid());
        let from = search.range.from.map_or(i64::MIN, Timestamp::as_micros);
        let to = search.range.to.as_micros();
        let (action, prefix) = (search.action.map(Action::as_str), search.actor_key_prefix.as_deref());
        let (after_at, after_id) = after(search);
        let pack = sqlx::query_scalar!(
            r#"select json_group_array(json_array(hex(id), action, actor_key_prefix,
                iif(agent_id is null, null, hex(agent_id)), resource, ip, status, method, path, duration_us,
                hex(request_id), created_at)) as "pack!: String"
             from (
                select * from audit_log
                where org_id = ?1 and agent_id = ?2 and created_at >= ?3 and created_at < ?4
                    and (created_at, id) < (?5, ?6)
                    and (?7 is null or action = ?7) and (?8 is null or actor_key_prefix = ?8)
                order by created_at desc, id desc limit ?9
             )"#,
            org_id,
            agent_id,
            from,
            to,
            after_at,
            after_id,
            action,
            prefix,
            search.limit
        )
        .fetch_one(self.readers())
        .await
        .map_err(store_error)?;
        unpacked(&pack, org)
    }
}
