//! Reads users, and the organizations that they own.

use async_trait::async_trait;
use kalends_accounts::ports::People;
use kalends_accounts::{Email, Ownership, User};
use kalends_kernel::{OrgId, StoreError, UserId};

use crate::PostgresStore;
use crate::error::store_error;
use crate::rows::{OwnerRow, UserRow};

#[async_trait]
impl People for PostgresStore {
    async fn find_user(&self, user: UserId) -> Result<Option<User>, StoreError> {
        let row = sqlx::query_as!(
            UserRow,
            "SELECT id, email, email_verified_at, name, password_hash, version, created_at, updated_at
             FROM users
             WHERE id = $1",
            user.uuid(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        row.map(UserRow::into_domain).transpose()
    }

    async fn find_user_by_email(&self, email: &Email) -> Result<Option<User>, StoreError> {
        let row = sqlx::query_as!(
            UserRow,
            "SELECT id, email, email_verified_at, name, password_hash, version, created_at, updated_at
             FROM users
             WHERE email = $1",
            email.as_str(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        row.map(UserRow::into_domain).transpose()
    }

    async fn owned_by(&self, user: UserId) -> Result<Vec<Ownership>, StoreError> {
        let rows = sqlx::query_as!(
            OwnerRow,
            "SELECT w.org_id, w.user_id, w.owned_since
             FROM organization_owners w JOIN organizations o ON o.id = w.org_id
             WHERE w.user_id = $1
             ORDER BY w.owned_since, w.org_id",
            user.uuid(),
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        rows.into_iter().map(OwnerRow::into_domain).collect()
    }

    async fn owner_of(&self, org: OrgId) -> Result<Option<Ownership>, StoreError> {
        let row = sqlx::query_as!(
            OwnerRow,
            "SELECT org_id, user_id, owned_since FROM organization_owners WHERE org_id = $1",
            org.uuid(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        row.map(OwnerRow::into_domain).transpose()
    }
}
