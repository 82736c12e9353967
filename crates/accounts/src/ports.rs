//! The ports of this crate, which stores implement.

use async_trait::async_trait;
use kalends_kernel::{AgentId, ClaimId, ConnectorClientId, KeyId, Listed, OrgId, Page, SessionId, StoreError, UserId};
use kalends_plans::{Metric, Plan};
use kalends_quotas::Period;
use kalends_time::{CivilDate, Timestamp};

use crate::{
    Acceptance, AddressHash, Allowance, AuditEntry, AuditSearch, AuthorizationCode, Claim, ConnectorClient, Email,
    EndedKey, KeyHash, KeyView, MemberInvitation, Membership, Organization, OrganizationCounts, OrganizationSearch,
    Principal, RefreshToken, ScopedKey, SecondFactor, Session, SignedIn, Taken, TokenHash, TokenPurpose, User,
    UserToken, VerificationCode,
    oauth::{Attempt, KnownIdentity, Provider},
};

/// Finds the owner of a key. The organization is not known before the look-up, so it is not an argument.
#[async_trait]
pub trait Principals: Send + Sync {
    /// The principal of the key with that hash; `None` if no key in force has it.
    async fn find_principal(&self, hash: KeyHash) -> Result<Option<Principal>, StoreError>;

    /// The key with that hash, if it no longer works and its organization still exists. Returns `None` for a key that
    /// is in force and for one that never existed.
    async fn find_ended_key(&self, hash: KeyHash) -> Result<Option<EndedKey>, StoreError>;

    /// A number that rises whenever a key, a plan or an organization's state changes. Cached principals are valid
    /// only while it is unchanged.
    async fn principals_epoch(&self) -> Result<i64, StoreError>;
}

/// Reads the keys that speak for agents.
#[async_trait]
pub trait ScopedKeys: Send + Sync {
    /// The organization's agent keys in force, ordered by creation, then identifier: keys that are not revoked, and
    /// whose agents are not decommissioned. The plan limits their number, so the list has no pages.
    async fn list_scoped_keys(&self, org: OrgId) -> Result<Vec<ScopedKey>, StoreError>;

    /// The agent key with that identifier, if it is in force.
    async fn find_scoped_key(&self, org: OrgId, key: KeyId) -> Result<Option<ScopedKey>, StoreError>;

    /// How many keys of the agent, decommissioned or not, were not revoked individually.
    async fn count_scoped_keys(&self, org: OrgId, agent: AgentId) -> Result<u64, StoreError>;
}

/// Records on which days keys are used.
#[async_trait]
pub trait KeyUses: Send + Sync {
    /// Records that these keys of the organization were used on that UTC day. A key that was used on a later day keeps
    /// the later one. Identifiers that are not keys of the organization are ignored. A key that another transaction is
    /// changing may be skipped: last uses need not be exact, and nobody waits for them.
    async fn record_key_uses(&self, org: OrgId, keys: &[KeyId], day: CivilDate) -> Result<(), StoreError>;
}

/// Reads organizations.
#[async_trait]
pub trait Organizations: Send + Sync {
    /// The organization with that identifier.
    async fn find_organization(&self, org: OrgId) -> Result<Option<Organization>, StoreError>;

    /// The organization with that address.
    async fn find_by_email(&self, email: &Email) -> Result<Option<Organization>, StoreError>;

    /// The organization's code, expired or not.
    async fn find_code(&self, org: OrgId) -> Result<Option<VerificationCode>, StoreError>;

    /// Every organization, ordered by creation, for the operator.
    async fn list_organizations(&self) -> Result<Vec<Organization>, StoreError>;
}

/// Reads the organizations of the server in parts, for the operator. An organization reads its own charges of a month
/// here too.
#[async_trait]
pub trait OrganizationLists: Send + Sync {
    /// A page of the organizations that match, the newest first.
    async fn find_organizations(
        &self,
        search: &OrganizationSearch,
        page: Page,
    ) -> Result<Listed<Organization>, StoreError>;

    /// A page of the waiting list. The organization that waits longest comes first.
    async fn waiting_organizations(&self, page: Page) -> Result<Listed<Organization>, StoreError>;

    /// How many organizations there are.
    async fn count_organizations(&self) -> Result<OrganizationCounts, StoreError>;

    /// The charges of these organizations in a month, in no particular order. A metric that is missing is unused.
    async fn use_in_month(&self, orgs: &[OrgId], month: Period) -> Result<Vec<(OrgId, Metric, u64)>, StoreError>;
}

/// Reads users and their memberships. A user can belong to several organizations, so most of these look-ups have none.
#[async_trait]
pub trait People: Send + Sync {
    /// The user with that identifier.
    async fn find_user(&self, user: UserId) -> Result<Option<User>, StoreError>;

    /// The user who holds that address.
    async fn find_user_by_email(&self, email: &Email) -> Result<Option<User>, StoreError>;

    /// Up to `limit` users who state that address but do not hold it, newest first.
    async fn users_stating(&self, email: &Email, limit: u32) -> Result<Vec<User>, StoreError>;

    /// The user's memberships of existing organizations, longest first, then by organization.
    async fn memberships_of(&self, user: UserId) -> Result<Vec<Membership>, StoreError>;

    /// The memberships that [`memberships_of`](Self::memberships_of) returns, each with its organization, in one
    /// statement.
    async fn organizations_of(&self, user: UserId) -> Result<Vec<(Membership, Organization)>, StoreError>;

    /// The members of the organization with their accounts, longest first, then by user. Their number is limited
    /// ([`crate::MEMBERS_MAX`]), so the list has no pages.
    async fn members_of(&self, org: OrgId) -> Result<Vec<(Membership, User)>, StoreError>;

    /// The owner who has been a member of the organization longest. That one gets the emails about it.
    async fn owner_of(&self, org: OrgId) -> Result<Option<Membership>, StoreError>;
}

/// Reads and removes invitations of members.
#[async_trait]
pub trait MemberInvitations: Send + Sync {
    /// The organization's invitations, expired or not ([`MemberInvitation::holds`]), oldest first. Their number is
    /// limited, so the list has no pages.
    async fn invitations_of(&self, org: OrgId) -> Result<Vec<MemberInvitation>, StoreError>;

    /// The invitation with that token of any existing organization, expired or not.
    async fn find_invitation(&self, token: TokenHash) -> Result<Option<MemberInvitation>, StoreError>;

    /// Whether an existing organization invites that address with an invitation that has not expired at `now`.
    async fn is_invited(&self, email: &Email, now: Timestamp) -> Result<bool, StoreError>;

    /// Removes up to `limit` invitations that have expired at `now`, and returns how many.
    async fn forget_invitations(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError>;
}

/// Reads and removes console sessions. A session is found by the identifier in its token.
#[async_trait]
pub trait Sessions: Send + Sync {
    /// The session with that identifier, in force or not ([`Session::holds`]).
    async fn find_session(&self, session: SessionId) -> Result<Option<Session>, StoreError>;

    /// What the user's session with that identifier opens, whether or not the session is in force: the user and their
    /// active membership ([`crate::active_membership`]) with its organization. `None` if the session belongs to another
    /// user, or opens no organization. One statement, because every request of a session needs it.
    async fn find_signed_in(&self, session: SessionId, user: UserId) -> Result<Option<SignedIn>, StoreError>;

    /// Removes up to `limit` sessions that have expired at `now`, and returns how many.
    async fn forget_sessions(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError>;
}

/// Reads and removes the tokens that were mailed to users.
#[async_trait]
pub trait UserTokens: Send + Sync {
    /// The token with that hash and purpose, expired or not ([`UserToken::holds`]).
    async fn find_user_token(&self, purpose: TokenPurpose, token: TokenHash) -> Result<Option<UserToken>, StoreError>;

    /// Removes up to `limit` tokens that have expired at `now`, and returns how many.
    async fn forget_user_tokens(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError>;
}

/// Reads the second factors of users.
#[async_trait]
pub trait SecondFactors: Send + Sync {
    /// The second factor of the user, confirmed or not, with the recovery codes that are left, ordered by hash.
    async fn find_second_factor(&self, user: UserId) -> Result<Option<SecondFactor>, StoreError>;
}

/// Reads and purges the audit log.
#[async_trait]
pub trait AuditLog: Send + Sync {
    /// The organization's entries that match, newest first. Entries written at the same time are ordered by
    /// identifier, highest first.
    async fn audit_page(&self, org: OrgId, search: &AuditSearch) -> Result<Vec<AuditEntry>, StoreError>;

    /// Removes up to `limit` entries of organizations on `plan` that were written before `before`, and returns how
    /// many. If it returns fewer than `limit`, none are left.
    async fn purge_audit(&self, plan: Plan, before: Timestamp, limit: u32) -> Result<u64, StoreError>;
}

/// Counts allowances, in one place for all nodes.
#[async_trait]
pub trait Allowances: Send + Sync {
    /// Takes one use at `now`, as [`Allowance::take`] decides. Concurrent uses are granted as if they came one after
    /// the other.
    async fn take(&self, allowance: &Allowance, now: Timestamp) -> Result<Taken, StoreError>;

    /// Gives back one use that was taken in the window that ends at `until`; see
    /// [`Used::given_back`](crate::Used::given_back).
    async fn give_back(&self, allowance: &Allowance, until: Timestamp) -> Result<(), StoreError>;

    /// Removes up to `limit` counts that have expired at `now`, and returns how many.
    async fn forget_allowances(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError>;
}

/// Reads the data of an account's export and of its usage that no other port reads.
#[async_trait]
pub trait AccountData: Send + Sync {
    /// The keys in force, oldest first: those that are neither revoked nor of a decommissioned agent.
    async fn keys_in_force(&self, org: OrgId) -> Result<Vec<KeyView>, StoreError>;

    /// The monthly charges, by month and metric.
    async fn use_by_month(&self, org: OrgId) -> Result<Vec<(Period, Metric, u64)>, StoreError>;

    /// The monthly charges from the month `since` to that of `now`, and what exists at `now`, in one snapshot. What exists
    /// has no month. Each metric appears at most once in a month; what is missing is unused.
    async fn use_since(
        &self,
        org: OrgId,
        since: Period,
        now: Timestamp,
    ) -> Result<Vec<(Option<Period>, Metric, u64)>, StoreError>;

    /// Every acceptance of terms, oldest first.
    async fn acceptances(&self, org: OrgId) -> Result<Vec<Acceptance>, StoreError>;
}

/// Removes the rows of accounts that [`crate::Change::DeleteOrganization`] left.
#[async_trait]
pub trait Deletions: Send + Sync {
    /// The accounts whose rows are still being removed, with the time of deletion, oldest first.
    async fn deletions(&self, limit: u32) -> Result<Vec<(OrgId, Timestamp)>, StoreError>;

    /// Removes up to about `limit` rows of a deleted account, and returns how many; 0 means that none are left.
    async fn remove_rows(&self, org: OrgId, limit: u32) -> Result<u64, StoreError>;

    /// Records that no rows of a deleted account are left.
    async fn end_deletion(&self, org: OrgId) -> Result<(), StoreError>;
}

/// Reads claims on organizations. A claim belongs to a user, so these look-ups have no organization.
#[async_trait]
pub trait Claims: Send + Sync {
    /// The claim with that identifier, of any user.
    async fn find_claim(&self, claim: ClaimId) -> Result<Option<Claim>, StoreError>;

    /// The claim of `user` that waits for a code mailed to that address, whether the code has expired or not. There
    /// is one at most.
    async fn waiting_claim(&self, user: UserId, address: AddressHash) -> Result<Option<Claim>, StoreError>;

    /// The claim on the organization that is on hold. There is one at most.
    async fn held_claim(&self, org: OrgId) -> Result<Option<Claim>, StoreError>;

    /// The claims of `user`, ordered by creation, then identifier.
    async fn claims_of(&self, user: UserId, page: Page) -> Result<Listed<Claim>, StoreError>;

    /// The newest claims of `user` that are on hold, or wait for a code that has not expired at `now`, at most `limit`,
    /// ordered by creation, then identifier. A claim on hold counts also if its hold is over.
    async fn unfinished_claims(&self, user: UserId, now: Timestamp, limit: u32) -> Result<Vec<Claim>, StoreError>;

    /// Up to `limit` claims whose hold is over at `now`, of `user` or of all users, ordered by the end of the hold.
    async fn due_claims(&self, user: Option<UserId>, now: Timestamp, limit: u32) -> Result<Vec<Claim>, StoreError>;

    /// Removes up to `limit` claims that were started before `before` and did not succeed, and returns how many.
    /// Claims that are on hold or took effect are kept.
    async fn forget_claims(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;
}

/// Stores attempts to sign in with a provider.
#[async_trait]
pub trait OauthAttempts: Send + Sync {
    /// Stores an attempt under its key.
    async fn keep_attempt(&self, attempt: &Attempt) -> Result<(), StoreError>;

    /// The attempt stored under the key, expired or not. This call uses it up. If several calls compete, only one gets
    /// it.
    async fn use_attempt(&self, key: TokenHash) -> Result<Option<Attempt>, StoreError>;

    /// Removes up to `limit` attempts that have expired at `now`, and returns how many.
    async fn forget_attempts(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError>;
}

/// Reads the identities that users sign in with.
#[async_trait]
pub trait Identities: Send + Sync {
    /// The user's identities, oldest first.
    async fn identities_of(&self, user: UserId) -> Result<Vec<KnownIdentity>, StoreError>;

    /// The stored identity, with the user that it signs in.
    async fn find_identity(
        &self,
        provider: Provider,
        issuer: &str,
        subject: &str,
    ) -> Result<Option<KnownIdentity>, StoreError>;
}

/// Keeps the programs that act for agents by OAuth, and finds what they were granted. Clients belong to no organization, so
/// no change-set writes them.
#[async_trait]
pub trait Connectors: Send + Sync {
    /// Stores a new client, unless `max` others that were registered after `since` were never used. Returns whether it is
    /// stored. If several callers register at once, there may be a few more.
    async fn register_client(&self, client: &ConnectorClient, since: Timestamp, max: u32) -> Result<bool, StoreError>;

    /// The client with that identifier.
    async fn find_client(&self, id: ConnectorClientId) -> Result<Option<ConnectorClient>, StoreError>;

    /// The clients with these identifiers, in any order. Unknown ones are left out.
    async fn find_clients(&self, ids: &[ConnectorClientId]) -> Result<Vec<ConnectorClient>, StoreError>;

    /// Notes that the client was used at `at`, unless a later use is noted.
    async fn note_client_use(&self, id: ConnectorClientId, at: Timestamp) -> Result<(), StoreError>;

    /// The code with that hash, expired and exchanged or not.
    async fn find_authorization_code(&self, hash: TokenHash) -> Result<Option<AuthorizationCode>, StoreError>;

    /// The refresh token with that hash, expired and spent or not.
    async fn find_refresh_token(&self, hash: TokenHash) -> Result<Option<RefreshToken>, StoreError>;

    /// Up to `limit` keys of clients that are not revoked, and whose access tokens expired at or before `expired`, those that
    /// expired first. They are keys of all organizations, and of decommissioned agents too.
    async fn lapsed_grants(&self, expired: Timestamp, limit: u32) -> Result<Vec<ScopedKey>, StoreError>;

    /// Removes up to `limit` codes and as many refresh tokens that expired at or before `expired`. Returns the larger of the
    /// two numbers.
    async fn forget_grants(&self, expired: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Removes up to `limit` clients that were last used at or before `unused` and hold no key in force, and as many that
    /// were registered at or before `never_used` and never used. Returns the larger of the two numbers.
    async fn forget_clients(&self, unused: Timestamp, never_used: Timestamp, limit: u32) -> Result<u64, StoreError>;
}
