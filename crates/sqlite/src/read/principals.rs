//! The principal of a key.

use async_trait::async_trait;
use kalends_accounts::{EndedKey, KeyHash, Principal, ports::Principals};
use kalends_kernel::{AgentId, KeyId, OrgId, StoreError};

use crate::{
    SqliteStore,
    error::store_error,
    rows::{Located, PrincipalRow, row_id},
};

#[async_trait]
impl Principals for SqliteStore {
    async fn find_principal(&self, hash: KeyHash) -> Result<Option<Principal>, StoreError> {
        let hash = hash.0.as_slice();
        sqlx::query_as!(
            PrincipalRow,
            r#"select k.id, k.org_id, k.kind, k.prefix, k.agent_id, a.status as "agent_status?", k.scopes,
                k.requires_approval, k.approval_minutes, k.client_id, k.access_expires_at, o.plan,
                o.limit_overrides, o.waitlisted_at, o.accepted_terms
             from api_keys k join organizations o on o.id = k.org_id
                left join agents a on a.org_id = k.org_id and a.id = k.agent_id
             where k.hash = ?1 and k.revoked_at is null and (k.agent_id is null or a.status <> 'decommissioned')"#,
            hash
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?
        .map(PrincipalRow::into_domain)
        .transpose()
    }

    async fn find_ended_key(&self, hash: KeyHash) -> Result<Option<EndedKey>, StoreError> {
        let hash = hash.0.as_slice();
        let row = sqlx::query!(
            "select k.id, k.org_id, k.agent_id, k.prefix
             from api_keys k join organizations o on o.id = k.org_id
                left join agents a on a.org_id = k.org_id and a.id = k.agent_id
             where k.hash = ?1 and (k.revoked_at is not null or a.status = 'decommissioned')",
            hash
        );
        let Some(row) = row.fetch_optional(self.readers()).await.map_err(store_error)? else { return Ok(None) };
        let id = KeyId::from_uuid(row_id("api_keys", "id", &row.id)?);
        let key = Located { table: "api_keys", id: &id };
        let agent = row.agent_id.as_deref().map(|agent| key.uuid("agent_id", agent).map(AgentId::from_uuid));
        let org = OrgId::from_uuid(key.uuid("org_id", &row.org_id)?);
        Ok(Some(EndedKey { org, agent: agent.transpose()?, prefix: row.prefix }))
    }

    async fn principals_epoch(&self) -> Result<i64, StoreError> {
        sqlx::query_scalar!("select epoch from principals_epoch where one = 1")
            .fetch_one(self.readers())
            .await
            .map_err(store_error)
    }
}
