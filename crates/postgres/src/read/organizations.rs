//! Reads organizations and their verification codes.

use async_trait::async_trait;
use kalends_accounts::ports::Organizations;
use kalends_accounts::{Email, Organization, VerificationCode};
use kalends_kernel::{OrgId, StoreError};

use crate::PostgresStore;
use crate::error::store_error;
use crate::rows::{CodeRow, OrganizationRow};

#[async_trait]
impl Organizations for PostgresStore {
    async fn find_organization(&self, org: OrgId) -> Result<Option<Organization>, StoreError> {
        let row = sqlx::query_as!(
            OrganizationRow,
            "SELECT id, name, plan, limit_overrides, test, email, verified_at, waitlisted_at, signup_source, accepted_terms,
                 accepted_at, reply_to, version, created_at
             FROM organizations
             WHERE id = $1",
            org.uuid(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        row.map(OrganizationRow::into_domain).transpose()
    }

    async fn find_by_email(&self, email: &Email) -> Result<Option<Organization>, StoreError> {
        let row = sqlx::query_as!(
            OrganizationRow,
            "SELECT id, name, plan, limit_overrides, test, email, verified_at, waitlisted_at, signup_source, accepted_terms,
                 accepted_at, reply_to, version, created_at
             FROM organizations
             WHERE email = $1",
            email.as_str(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        row.map(OrganizationRow::into_domain).transpose()
    }

    async fn find_code(&self, org: OrgId) -> Result<Option<VerificationCode>, StoreError> {
        let row = sqlx::query_as!(
            CodeRow,
            "SELECT hash, expires_at, attempts, version FROM verification_codes WHERE org_id = $1",
            org.uuid(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        row.map(|row| row.into_domain(org)).transpose()
    }

    async fn list_organizations(&self) -> Result<Vec<Organization>, StoreError> {
        let rows = sqlx::query_as!(
            OrganizationRow,
            "SELECT id, name, plan, limit_overrides, test, email, verified_at, waitlisted_at, signup_source, accepted_terms,
                 accepted_at, reply_to, version, created_at
             FROM organizations
             ORDER BY created_at, id",
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        rows.into_iter().map(OrganizationRow::into_domain).collect()
    }
}
