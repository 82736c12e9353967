//! Users, and the organizations that they own.

use async_trait::async_trait;
use kalends_accounts::{Email, Ownership, User, ports::People};
use kalends_kernel::{OrgId, StoreError, UserId};

use crate::{
    SqliteStore,
    error::store_error,
    rows::{OwnerRow, UserRow},
};

#[async_trait]
impl People for SqliteStore {
    async fn find_user(&self, user: UserId) -> Result<Option<User>, StoreError> {
        let id = user.uuid();
        sqlx::query_as!(
            UserRow,
            "select id, email, email_verified_at, name, password_hash, version, created_at, updated_at
             from users where id = ?1",
            id
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?
        .map(UserRow::into_domain)
        .transpose()
    }

    async fn find_user_by_email(&self, email: &Email) -> Result<Option<User>, StoreError> {
        let email = email.as_str();
        sqlx::query_as!(
            UserRow,
            "select id, email, email_verified_at, name, password_hash, version, created_at, updated_at
             from users where email = ?1",
            email
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?
        .map(UserRow::into_domain)
        .transpose()
    }

    async fn owned_by(&self, user: UserId) -> Result<Vec<Ownership>, StoreError> {
        let id = user.uuid();
        sqlx::query_as!(
            OwnerRow,
            "select w.org_id, w.user_id, w.owned_since
             from organization_owners w cross join organizations o on o.id = w.org_id
             where w.user_id = ?1 order by w.owned_since, w.org_id",
            id
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?
        .into_iter()
        .map(OwnerRow::into_domain)
        .collect()
    }

    async fn owner_of(&self, org: OrgId) -> Result<Option<Ownership>, StoreError> {
        let org_id = org.uuid();
        sqlx::query_as!(
            OwnerRow,
            "select org_id, user_id, owned_since from organization_owners where org_id = ?1",
            org_id
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?
        .map(OwnerRow::into_domain)
        .transpose()
    }
}
