//! The keys of agents, and when keys are used.

use async_trait::async_trait;
use kalends_accounts::{
    ScopedKey,
    ports::{KeyUses, ScopedKeys},
};
use kalends_kernel::{AgentId, KeyId, OrgId, StoreError};
use kalends_time::CivilDate;

use crate::{
    SqliteStore,
    error::store_error,
    json::{self, Hex},
    rows::ScopedKeyRow,
};

#[async_trait]
impl ScopedKeys for SqliteStore {
    async fn list_scoped_keys(&self, org: OrgId) -> Result<Vec<ScopedKey>, StoreError> {
        let org_id = org.uuid();
        sqlx::query_as!(
            ScopedKeyRow,
            r#"select k.org_id, k.id, k.agent_id as "agent_id!", k.label, k.hash, k.prefix, k.created_at, k.created_by,
                k.last_used_on, k.scopes, k.requires_approval, k.approval_minutes, k.client_id, k.access_expires_at
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
            r#"select k.org_id, k.id, k.agent_id as "agent_id!", k.label, k.hash, k.prefix, k.created_at, k.created_by,
                k.last_used_on, k.scopes, k.requires_approval, k.approval_minutes, k.client_id, k.access_expires_at
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

    async fn count_scoped_keys(&self, org: OrgId, agent: AgentId) -> Result<u64, StoreError> {
        let (org_id, agent_id) = (org.uuid(), agent.uuid());
        let count = sqlx::query_scalar!(
            "select count(*) from api_keys where org_id = ?1 and agent_id = ?2 and revoked_at is null",
            org_id,
            agent_id
        );
        let count = count.fetch_one(self.readers()).await.map_err(store_error)?;
        Ok(u64::try_from(count).unwrap_or_default())
    }
}

#[async_trait]
impl KeyUses for SqliteStore {
    async fn record_key_uses(&self, org: OrgId, keys: &[KeyId], day: CivilDate) -> Result<(), StoreError> {
        let keys: Vec<_> = keys.iter().map(|key| Hex(key.uuid())).collect();
        let keys = json::rows(&keys).map_err(store_error)?;
        let (org_id, day) = (org.uuid(), day.as_days());
        let mut writing = self.database.writer.take().await?;
        let recorded = sqlx::query!(
            "update api_keys set last_used_on = ?3
             where org_id = ?1 and id in (select unhex(value) from json_each(?2))
                and (last_used_on is null or last_used_on < ?3)",
            org_id,
            keys,
            day
        )
        .execute(&mut writing.connection)
        .await;
        writing.done(recorded).await?;
        Ok(())
    }
}
