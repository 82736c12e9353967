//! Reading organizations, keys and codes.

use async_trait::async_trait;
use kalends_accounts::{
    Email, KeyHash, Organization, Principal, Reach, VerificationCode, Waitlist,
    ports::{Organizations, Principals},
};
use kalends_kernel::{OrgId, StoreError};

use super::MemoryStore;

#[async_trait]
impl Principals for MemoryStore {
    async fn find_principal(&self, hash: KeyHash) -> Result<Option<Principal>, StoreError> {
        let state = self.state();
        let Some(key) = state.keys.get(&hash) else { return Ok(None) };
        let Some(organization) = state.organizations.get(&key.org) else { return Ok(None) };
        let limits = organization
            .limits()
            .map_err(|error| StoreError::corrupt("organizations", "limit_overrides", organization.id, error))?;
        Ok(Some(Principal {
            key: key.id,
            key_prefix: key.prefix.clone(),
            org: organization.id,
            reach: Reach::Organization,
            waitlisted: organization.waitlist != Waitlist::Active,
            plan: organization.plan,
            limits,
            accepted_terms: organization.accepted.as_ref().map(|acceptance| acceptance.version.clone()),
        }))
    }

    async fn principals_epoch(&self) -> Result<i64, StoreError> {
        Ok(self.state().epoch)
    }
}

#[async_trait]
impl Organizations for MemoryStore {
    async fn find_organization(&self, org: OrgId) -> Result<Option<Organization>, StoreError> {
        Ok(self.state().organizations.get(&org).cloned())
    }

    async fn find_by_email(&self, email: &Email) -> Result<Option<Organization>, StoreError> {
        Ok(self.state().organizations.values().find(|organization| organization.email.as_ref() == Some(email)).cloned())
    }

    async fn find_code(&self, org: OrgId) -> Result<Option<VerificationCode>, StoreError> {
        Ok(self.state().codes.get(&org).cloned())
    }

    async fn list_organizations(&self) -> Result<Vec<Organization>, StoreError> {
        let mut all: Vec<_> = self.state().organizations.values().cloned().collect();
        all.sort_by_key(|organization| (organization.created_at, organization.id));
        Ok(all)
    }
}
