//! Finds the principal of a key.

use async_trait::async_trait;
use kalends_accounts::ports::Principals;
use kalends_accounts::{EndedKey, KeyHash, Principal};
use kalends_kernel::{AgentId, OrgId, StoreError};

use crate::PostgresStore;
use crate::error::store_error;
use crate::rows::{Located, PrincipalRow};

#[async_trait]
impl Principals for PostgresStore {
    async fn find_principal(&self, hash: KeyHash) -> Result<Option<Principal>, StoreError> {
        let row = sqlx::query_as!(
            PrincipalRow,
            r#"SELECT k.org_id, k.id, k.kind, k.prefix, k.agent_id, a.status AS "agent_status?", k.scopes,
                 k.requires_approval, k.approval_minutes, k.client_id, k.access_expires_at, o.plan,
                 o.limit_overrides, o.waitlisted_at, o.accepted_terms
             FROM api_keys k
             JOIN organizations o ON o.id = k.org_id
             LEFT JOIN agents a ON a.org_id = k.org_id AND a.id = k.agent_id
             WHERE k.hash = $1 AND k.revoked_at IS NULL AND (k.agent_id IS NULL OR a.status <> 'decommissioned')"#,
            &hash.0,
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        row.map(PrincipalRow::into_domain).transpose()
    }

    async fn find_ended_key(&self, hash: KeyHash) -> Result<Option<EndedKey>, StoreError> {
        let row = sqlx::query!(
            "SELECT k.org_id, k.agent_id, k.prefix
             FROM api_keys k
             JOIN organizations o ON o.id = k.org_id
             LEFT JOIN agents a ON a.org_id = k.org_id AND a.id = k.agent_id
             WHERE k.hash = $1 AND (k.revoked_at IS NOT NULL OR a.status = 'decommissioned')",
            &hash.0,
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        Ok(row.map(|row| EndedKey {
            org: OrgId::from_uuid(row.org_id),
            agent: row.agent_id.map(AgentId::from_uuid),
            prefix: row.prefix,
        }))
    }

    async fn principals_epoch(&self) -> Result<i64, StoreError> {
        let epoch = sqlx::query_scalar!("SELECT epoch FROM principals_epoch WHERE one = 1");
        let epoch = epoch.fetch_optional(&self.connections).await.map_err(store_error)?;
        epoch.ok_or_else(|| Located { table: "principals_epoch", id: 1 }.corrupt("one", "the row is missing"))
    }
}
