//! What the rules of this crate need to read.

use async_trait::async_trait;
use kalends_kernel::{AgentId, ClaimId, KeyId, Listed, OrgId, Page, SessionId, StoreError, Timestamp, UserId};
use kalends_quotas::{Metric, Period, Plan};

use crate::{
    Acceptance, AddressHash, Allowance, AuditEntry, AuditQuery, Claim, Email, EndedKey, KeyHash, KeyView, Organization,
    Ownership, PasswordReset, Principal, ScopedKey, Session, Taken, TokenHash, User, VerificationCode,
    oauth::{Attempt, KnownIdentity, Provider},
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

/// Reads humans and what they own. A human belongs to no organization, so that these look-ups know none.
#[async_trait]
pub trait People: Send + Sync {
    /// The human of that identifier.
    async fn find_user(&self, user: UserId) -> Result<Option<User>, StoreError>;

    /// The human who has that address.
    async fn find_user_by_email(&self, email: &Email) -> Result<Option<User>, StoreError>;

    /// What the human owns, the longest owned first, then by organization. There is an organization behind each.
    async fn owned_by(&self, user: UserId) -> Result<Vec<Ownership>, StoreError>;

    /// Who owns the organization.
    async fn owner_of(&self, org: OrgId) -> Result<Option<Ownership>, StoreError>;
}

/// Reads and forgets console sessions. A session is found by the identifier that its token names.
#[async_trait]
pub trait Sessions: Send + Sync {
    /// The session of that identifier, in force or not ([`Session::holds`]).
    async fn find_session(&self, session: SessionId) -> Result<Option<Session>, StoreError>;

    /// Removes up to `limit` sessions that have expired at `now`, and says how many.
    async fn forget_sessions(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError>;
}

/// Reads and forgets the tokens with which humans set a password.
#[async_trait]
pub trait PasswordResets: Send + Sync {
    /// The token of that hash, expired or not ([`PasswordReset::holds`]).
    async fn find_reset(&self, token: TokenHash) -> Result<Option<PasswordReset>, StoreError>;

    /// Removes up to `limit` tokens that have expired at `now`, and says how many.
    async fn forget_resets(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError>;
}

/// Reads and shortens the audit log.
#[async_trait]
pub trait AuditLog: Send + Sync {
    /// The entries of the organization that are asked for, the newest first; of those written at the same
    /// instant the one with the higher identifier first.
    async fn audit_page(&self, org: OrgId, asked: &AuditQuery) -> Result<Vec<AuditEntry>, StoreError>;

    /// Removes up to `limit` entries that organizations on `plan` had written before `before`, and says
    /// how many; fewer than `limit` were all.
    async fn purge_audit(&self, plan: Plan, before: Timestamp, limit: u32) -> Result<u64, StoreError>;
}

/// Counts what is allowed so often, in one place for all nodes.
#[async_trait]
pub trait Allowances: Send + Sync {
    /// Takes one use at `now`, as [`Allowance::take`] decides. Of uses at the same time as many are granted
    /// as one after the other would be.
    async fn take(&self, allowance: &Allowance, now: Timestamp) -> Result<Taken, StoreError>;

    /// Gives back one use that was taken in the window that ends at `until`, as [`Used::given_back`](crate::Used::given_back)
    /// says.
    async fn give_back(&self, allowance: &Allowance, until: Timestamp) -> Result<(), StoreError>;

    /// Removes up to `limit` counts that have expired at `now`, and says how many.
    async fn forget_allowances(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError>;
}

/// What an export tells of an account, beside what other ports read.
#[async_trait]
pub trait AccountData: Send + Sync {
    /// The keys in force, the oldest first: neither revoked nor of a decommissioned agent.
    async fn keys_in_force(&self, org: OrgId) -> Result<Vec<KeyView>, StoreError>;

    /// What was charged by the month, by month and metric.
    async fn use_by_month(&self, org: OrgId) -> Result<Vec<(Period, Metric, u64)>, StoreError>;

    /// Every acceptance of terms, the oldest first.
    async fn acceptances(&self, org: OrgId) -> Result<Vec<Acceptance>, StoreError>;
}

/// Removes what [`crate::Change::DeleteOrganization`] left of accounts.
#[async_trait]
pub trait Deletions: Send + Sync {
    /// Accounts whose rows are still being removed, the oldest deletion first, and since when.
    async fn deletions(&self, limit: u32) -> Result<Vec<(OrgId, Timestamp)>, StoreError>;

    /// Removes up to about `limit` rows of a deleted account, and says how many; 0 means that none is left.
    async fn remove_rows(&self, org: OrgId, limit: u32) -> Result<u64, StoreError>;

    /// Notes that nothing is left of a deleted account.
    async fn end_deletion(&self, org: OrgId) -> Result<(), StoreError>;
}

/// Reads claims on organizations. A claim is a human's: there is no organization yet that could ask.
#[async_trait]
pub trait Claims: Send + Sync {
    /// The claim of that id, whoever made it.
    async fn find_claim(&self, claim: ClaimId) -> Result<Option<Claim>, StoreError>;

    /// The claim of `user` that waits for a code mailed to that address, the code expired or not; there is one at
    /// most.
    async fn waiting_claim(&self, user: UserId, address: AddressHash) -> Result<Option<Claim>, StoreError>;

    /// The claim on the organization that is on hold; there is one at most.
    async fn held_claim(&self, org: OrgId) -> Result<Option<Claim>, StoreError>;

    /// The claims of `user` by creation, then id.
    async fn claims_of(&self, user: UserId, page: Page) -> Result<Listed<Claim>, StoreError>;

    /// Up to `limit` claims whose hold is over at `now`, of `user` or of everybody, those first whose hold ended
    /// first.
    async fn due_claims(&self, user: Option<UserId>, now: Timestamp, limit: u32) -> Result<Vec<Claim>, StoreError>;

    /// Removes up to `limit` claims that were initiated before `before` and came to nothing, and says how many:
    /// all but those that are on hold or took effect.
    async fn forget_claims(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;
}

/// Keeps attempts to sign in with a provider.
#[async_trait]
pub trait OauthAttempts: Send + Sync {
    /// Keeps an attempt under its key.
    async fn keep_attempt(&self, attempt: &Attempt) -> Result<(), StoreError>;

    /// The attempt that is kept under the key, expired or not, which is used up by this call: of several calls one
    /// gets it.
    async fn use_attempt(&self, key: TokenHash) -> Result<Option<Attempt>, StoreError>;

    /// Removes up to `limit` attempts that have expired at `now`, and says how many.
    async fn forget_attempts(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError>;
}

/// Reads with what humans sign in beside a password.
#[async_trait]
pub trait Identities: Send + Sync {
    /// With what a human signs in, the oldest first.
    async fn identities_of(&self, user: UserId) -> Result<Vec<KnownIdentity>, StoreError>;

    /// Whom the identity signs in.
    async fn find_identity(
        &self,
        provider: Provider,
        issuer: &str,
        subject: &str,
    ) -> Result<Option<KnownIdentity>, StoreError>;
}
