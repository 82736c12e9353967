//! Reads the keys of agents, and records when keys are used.

use async_trait::async_trait;
use kalends_accounts::ScopedKey;
use kalends_accounts::ports::{KeyUses, ScopedKeys};
use kalends_kernel::{AgentId, KeyId, OrgId, StoreError};
use kalends_time::CivilDate;
use uuid::Uuid;

use crate::PostgresStore;
use crate::error::store_error;
use crate::rows::ScopedKeyRow;

#[async_trait]
impl ScopedKeys for PostgresStore {
    async fn list_scoped_keys(&self, org: OrgId) -> Result<Vec<ScopedKey>, StoreError> {
        let rows = sqlx::query_as!(
            ScopedKeyRow,
            r#"SELECT k.org_id, k.id, k.agent_id AS "agent_id!", k.label, k.hash, k.prefix, k.created_at, k.created_by,
                 k.last_used_on, k.scopes, k.requires_approval, k.approval_minutes, k.client_id, k.access_expires_at
             FROM api_keys k
             JOIN agents a ON a.org_id = k.org_id AND a.id = k.agent_id
             WHERE k.org_id = $1 AND k.agent_id IS NOT NULL AND k.revoked_at IS NULL
                 AND a.status <> 'decommissioned'
             ORDER BY k.created_at, k.id"#,
            org.uuid(),
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        rows.into_iter().map(ScopedKeyRow::into_domain).collect()
    }

    async fn find_scoped_key(&self, org: OrgId, key: KeyId) -> Result<Option<ScopedKey>, StoreError> {
        let row = sqlx::query_as!(
            ScopedKeyRow,
            r#"SELECT k.org_id, k.id, k.agent_id AS "agent_id!", k.label, k.hash, k.prefix, k.created_at, k.created_by,
                 k.last_used_on, k.scopes, k.requires_approval, k.approval_minutes, k.client_id, k.access_expires_at
             FROM api_keys k
             JOIN agents a ON a.org_id = k.org_id AND a.id = k.agent_id
             WHERE k.org_id = $1 AND k.id = $2 AND k.revoked_at IS NULL AND a.status <> 'decommissioned'"#,
            org.uuid(),
            key.uuid(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        row.map(ScopedKeyRow::into_domain).transpose()
    }

    async fn count_scoped_keys(&self, org: OrgId, agent: AgentId) -> Result<u64, StoreError> {
        let count = sqlx::query_scalar!(
            r#"SELECT count(*) AS "count!" FROM api_keys WHERE org_id = $1 AND agent_id = $2 AND revoked_at IS NULL"#,
            org.uuid(),
            agent.uuid(),
        );
        let count = count.fetch_one(&self.connections).await.map_err(store_error)?;
        Ok(u64::try_from(count).unwrap_or_default())
    }
}

#[async_trait]
impl KeyUses for PostgresStore {
    async fn record_key_uses(&self, org: OrgId, keys: &[KeyId], day: CivilDate) -> Result<(), StoreError> {
        let keys: Vec<Uuid> = keys.iter().map(|key| key.uuid()).collect();
        // Another node may write the same rows in another order, or a commit may revoke them. Locked rows are skipped,
        // so that nobody waits.
        let recorded = sqlx::query!(
            "UPDATE api_keys SET last_used_on = $3
             WHERE org_id = $1 AND (last_used_on IS NULL OR last_used_on < $3) AND id IN (
                 SELECT id FROM api_keys
                 WHERE org_id = $1 AND id = ANY($2::uuid[]) AND (last_used_on IS NULL OR last_used_on < $3)
                 ORDER BY id FOR UPDATE SKIP LOCKED
             )",
            org.uuid(),
            &keys,
            day.as_days(),
        );
        recorded.execute(&self.connections).await.map_err(store_error)?;
        Ok(())
    }
}
