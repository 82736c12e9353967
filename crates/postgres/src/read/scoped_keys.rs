//! Reads the keys of agents.

use async_trait::async_trait;
use kalends_accounts::ScopedKey;
use kalends_accounts::ports::ScopedKeys;
use kalends_kernel::{AgentId, KeyId, OrgId, StoreError};

use crate::PostgresStore;
use crate::error::store_error;
use crate::rows::ScopedKeyRow;

#[async_trait]
impl ScopedKeys for PostgresStore {
    async fn list_scoped_keys(&self, org: OrgId) -> Result<Vec<ScopedKey>, StoreError> {
        let rows = sqlx::query_as!(
            ScopedKeyRow,
            r#"SELECT k.org_id, k.id, k.agent_id AS "agent_id!", k.label, k.hash, k.prefix, k.created_at
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
            r#"SELECT k.org_id, k.id, k.agent_id AS "agent_id!", k.label, k.hash, k.prefix, k.created_at
             FROM api_keys k
             JOIN agents a ON a.org_id = k.org_id AND a.id = k.agent_id
             WHERE k.org_id = $1 AND k.id = $2 AND k.revoked_at IS NULL AND a.status <> 'decommissioned'"#,
            org.uuid(),
            key.uuid(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        row.map(ScopedKeyRow::into_domain).transpose()
    }

    async fn has_scoped_keys(&self, org: OrgId, agent: AgentId) -> Result<bool, StoreError> {
        let found = sqlx::query_scalar!(
            r#"SELECT EXISTS (
                 SELECT 1 FROM api_keys WHERE org_id = $1 AND agent_id = $2 AND revoked_at IS NULL
             ) AS "exists!""#,
            org.uuid(),
            agent.uuid(),
        );
        found.fetch_one(&self.connections).await.map_err(store_error)
    }
}
