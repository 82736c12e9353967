//! What the rules of this crate need to read.

use async_trait::async_trait;
use kalends_kernel::{AgentId, Instant, KeyId, OrgId, StoreError};
use kalends_quotas::{Metric, Period, Plan};

use crate::{
    Acceptance, Allowance, AuditAsked, AuditEntry, Email, EndedKey, KeyHash, KeyShown, Organization, Principal,
    ScopedKey, Taken, VerificationCode,
};

/// Finds out who a key speaks for. The one look-up that knows no organization yet.
#[async_trait]
pub trait Principals: Send + Sync {
    /// Whom the key of that hash speaks for; `None` where no living key has it.
    async fn find_principal(&self, hash: KeyHash) -> Result<Option<Principal>, StoreError>;

    /// The key of that hash, where it opens nothing any more and its organization still exists. One that never was
    /// is `None` like one that is in force.
    async fn find_ended_key(&self, hash: KeyHash) -> Result<Option<EndedKey>, StoreError>;

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

/// Reads and shortens the audit log.
#[async_trait]
pub trait AuditLog: Send + Sync {
    /// The entries of the organization that are asked for, the newest first; of those written at the same
    /// instant the one with the higher identifier first.
    async fn audit_page(&self, org: OrgId, asked: &AuditAsked) -> Result<Vec<AuditEntry>, StoreError>;

    /// Removes up to `limit` entries that organizations on `plan` had written before `before`, and says
    /// how many; fewer than `limit` were all.
    async fn purge_audit(&self, plan: Plan, before: Instant, limit: u32) -> Result<u64, StoreError>;
}

/// Counts what is allowed so often, in one place for all nodes.
#[async_trait]
pub trait Allowances: Send + Sync {
    /// Takes one use at `now`, as [`Allowance::take`] decides. Of uses at the same time as many are granted
    /// as one after the other would be.
    async fn take(&self, allowance: &Allowance, now: Instant) -> Result<Taken, StoreError>;

    /// Removes up to `limit` counts that have expired at `now`, and says how many.
    async fn forget_allowances(&self, now: Instant, limit: u32) -> Result<u64, StoreError>;
}

/// What an export tells of an account, beside what other ports read.
#[async_trait]
pub trait AccountData: Send + Sync {
    /// The keys in force, the oldest first: neither revoked nor of a decommissioned agent.
    async fn keys_in_force(&self, org: OrgId) -> Result<Vec<KeyShown>, StoreError>;

    /// What was charged by the month, by month and metric.
    async fn use_by_month(&self, org: OrgId) -> Result<Vec<(Period, Metric, u64)>, StoreError>;

    /// Every acceptance of terms, the oldest first.
    async fn acceptances(&self, org: OrgId) -> Result<Vec<Acceptance>, StoreError>;
}

/// Removes what [`crate::Change::DeleteOrganization`] left of accounts.
#[async_trait]
pub trait Deletions: Send + Sync {
    /// Accounts whose rows are still being removed, the oldest deletion first, and since when.
    async fn deletions(&self, limit: u32) -> Result<Vec<(OrgId, Instant)>, StoreError>;

    /// Removes up to about `limit` rows of a deleted account, and says how many; 0 means that none is left.
    async fn remove_rows(&self, org: OrgId, limit: u32) -> Result<u64, StoreError>;

    /// Notes that nothing is left of a deleted account.
    async fn end_deletion(&self, org: OrgId) -> Result<(), StoreError>;
}
