//! What the rules of this crate need to read.

use async_trait::async_trait;
use kalends_kernel::{AgentId, KeyId, OrgId, StoreError};

use crate::{Email, KeyHash, Organization, Principal, ScopedKey, VerificationCode};

/// Finds out who a key speaks for. The one look-up that knows no organization yet.
#[async_trait]
pub trait Principals: Send + Sync {
    /// Whom the key of that hash speaks for; `None` where no living key has it.
    async fn find_principal(&self, hash: KeyHash) -> Result<Option<Principal>, StoreError>;

    /// A number that rises whenever a key, a plan or an organization's state changes. Cached
    /// principals hold only while it stands still.
    async fn principals_epoch(&self) -> Result<i64, StoreError>;
}

/// Reads the keys that speak for agents.
#[async_trait]
pub trait ScopedKeys: Send + Sync {
    /// The organization's agent keys in force by creation, then id: not revoked, their agents not
    /// decommissioned. A plan caps how many there are, so that the list has no pages.
    async fn list_scoped_keys(&self, org: OrgId) -> Result<Vec<ScopedKey>, StoreError>;

    /// The agent key of that id, if it is in force.
    async fn find_scoped_key(&self, org: OrgId, key: KeyId) -> Result<Option<ScopedKey>, StoreError>;

    /// Whether the agent, decommissioned or not, has a key that was not revoked by itself.
    async fn has_scoped_keys(&self, org: OrgId, agent: AgentId) -> Result<bool, StoreError>;
}

/// Reads organizations.
#[async_trait]
pub trait Organizations: Send + Sync {
    /// The organization of that id.
    async fn find_organization(&self, org: OrgId) -> Result<Option<Organization>, StoreError>;

    /// The organization that has that address.
    async fn find_by_email(&self, email: &Email) -> Result<Option<Organization>, StoreError>;

    /// The code that the organization may present, expired or not.
    async fn find_code(&self, org: OrgId) -> Result<Option<VerificationCode>, StoreError>;

    /// Every organization by creation, for the operator.
    async fn list_organizations(&self) -> Result<Vec<Organization>, StoreError>;
}
