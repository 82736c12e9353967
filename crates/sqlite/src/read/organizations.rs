//! Organizations and their verification codes.

use async_trait::async_trait;
use kalends_accounts::{Email, Organization, VerificationCode, ports::Organizations};
use kalends_kernel::{OrgId, StoreError};

use crate::{
    SqliteStore,
    error::store_error,
    rows::{CodeRow, OrganizationRow},
};

#[async_trait]
impl Organizations for SqliteStore {
    async fn find_organization(&self, org: OrgId) -> Result<Option<Organization>, StoreError> {
        let id = org.uuid();
        sqlx::query_as!(
            OrganizationRow,
            "select id, name, plan, limit_overrides, test, email, verified_at, waitlisted_at, signup_source, accepted_terms,
                accepted_at, reply_to, version, created_at
             from organizations where id = ?1",
            id
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?
        .map(OrganizationRow::into_domain)
        .transpose()
    }

    async fn find_by_email(&self, email: &Email) -> Result<Option<Organization>, StoreError> {
        let email = email.as_str();
        sqlx::query_as!(
            OrganizationRow,
            "select id, name, plan, limit_overrides, test, email, verified_at, waitlisted_at, signup_source, accepted_terms,
                accepted_at, reply_to, version, created_at
             from organizations where email = ?1",
            email
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?
        .map(OrganizationRow::into_domain)
        .transpose()
    }

    async fn find_code(&self, org: OrgId) -> Result<Option<VerificationCode>, StoreError> {
        let id = org.uuid();
        sqlx::query_as!(
            CodeRow,
            "select hash, expires_at, attempts, version from verification_codes where org_id = ?1",
            id
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?
        .map(|row| row.into_domain(org))
        .transpose()
    }

    async fn list_organizations(&self) -> Result<Vec<Organization>, StoreError> {
        sqlx::query_as!(
            OrganizationRow,
            "select id, name, plan, limit_overrides, test, email, verified_at, waitlisted_at, signup_source, accepted_terms,
                accepted_at, reply_to, version, created_at
             from organizations order by created_at, id"
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?
        .into_iter()
        .map(OrganizationRow::into_domain)
        .collect()
    }
}
