//! The keys of agents.

use async_trait::async_trait;
use kalends_accounts::{ScopedKey, ports::ScopedKeys};
use kalends_kernel::{AgentId, KeyId, OrgId, StoreError};

use crate::{SqliteStore, error::store_error, rows::ScopedKeyRow};

#[async_trait]
impl ScopedKeys for SqliteStore {
    async fn list_scoped_keys(&self, org: OrgId) -> Result<Vec<ScopedKey>, StoreError> {
        let org_id = org.uuid();
        sqlx::query_as!(
            ScopedKeyRow,
            r#"select k.org_id, k.id, k.agent_id as "agent_id!", k.label, k.hash, k.prefix, k.created_at
             from api_keys k join agents a on a.org_id = k.org_id and a.id = k.agent_id
             where k.org_id = ?1 and k.agent_id is not null and k.revoked_at is null and a.status <> 'decommissioned'
             order by k.created_at, k.id"#,
            org_id
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?
        .into_iter()
        .map(ScopedKeyRow::into_domain)
        .collect()
    }

    async fn find_scoped_key(&self, org: OrgId, key: KeyId) -> Result<Option<ScopedKey>, StoreError> {
        let (org_id, id) = (org.uuid(), key.uuid());
        sqlx::query_as!(
            ScopedKeyRow,
            r#"select k.org_id, k.id, k.agent_id as "agent_id!", k.label, k.hash, k.prefix, k.created_at
             from api_keys k join agents a on a.org_id = k.org_id and a.id = k.agent_id
             where k.org_id = ?1 and k.id = ?2 and k.revoked_at is null and a.status <> 'decommissioned'"#,
            org_id,
            id
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?
        .map(ScopedKeyRow::into_domain)
        .transpose()
    }

    async fn has_scoped_keys(&self, org: OrgId, agent: AgentId) -> Result<bool, StoreError> {
        let (org_id, agent_id) = (org.uuid(), agent.uuid());
        let found = sqlx::query_scalar!(
            "select count(*) from api_keys where org_id = ?1 and agent_id = ?2 and revoked_at is null",
            org_id,
            agent_id
        );
        Ok(found.fetch_one(self.readers()).await.map_err(store_error)? > 0)
    }
}
