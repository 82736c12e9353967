//! Whom a key speaks for.

use async_trait::async_trait;
use kalends_accounts::{KeyHash, Principal, ports::Principals};
use kalends_kernel::StoreError;

use crate::{SqliteStore, error::store_error, rows::principal::PrincipalRow};

#[async_trait]
impl Principals for SqliteStore {
    async fn find_principal(&self, hash: KeyHash) -> Result<Option<Principal>, StoreError> {
        let hash = hash.0.as_slice();
        sqlx::query_as!(
            PrincipalRow,
            r#"select k.id, k.org_id, k.kind, k.prefix, k.agent_id, a.status as "agent_status?", o.plan,
                o.limit_overrides, o.waitlisted_at, o.accepted_terms
             from api_keys k join organizations o on o.id = k.org_id
                left join agents a on a.org_id = k.org_id and a.id = k.agent_id
             where k.hash = ?1 and k.revoked_at is null and (k.agent_id is null or a.status <> 'decommissioned')"#,
            hash
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?
        .map(PrincipalRow::read)
        .transpose()
    }

    async fn principals_epoch(&self) -> Result<i64, StoreError> {
        sqlx::query_scalar!("select epoch from principals_epoch where one = 1")
            .fetch_one(self.readers())
            .await
            .map_err(store_error)
    }
}
