//! The changes that a decision writes.

use kalends_kernel::{KeyId, MemberInvitationId, OrgId, UserId, Version};
use kalends_time::Timestamp;

use crate::{
    Acceptance, ApiKey, AuthorizationCode, Claim, FactorUse, KeyHash, MemberInvitation, Membership, Organization,
    RefreshToken, ScopedKey, SecondFactor, Session, SessionEnd, TokenHash, User, UserToken, VerificationCode,
    oauth::KnownIdentity,
};

/// One write to the data of this crate, such as organizations, keys, users and sessions. An update only applies while
/// the row has the version that was read.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Creates an organization. Fails as a duplicate if its address is taken.
    CreateOrganization(Organization),
    /// Updates an organization.
    UpdateOrganization {
        /// The row to write.
        organization: Organization,
        /// The version that was read.
        seen: Version,
    },
    /// Creates a key.
    CreateKey(ApiKey),
    /// Creates a key of an agent. Stale if the agent does not exist or is decommissioned.
    CreateScopedKey(ScopedKey),
    /// Stores what a person granted to a connector. Stale if the user does not exist, or the agent does not exist or is
    /// decommissioned.
    GrantCode(Box<AuthorizationCode>),
    /// Exchanges a code for a key, which the same change-set creates. Stale if the code was exchanged before.
    UseCode {
        /// The hash of the code.
        hash: TokenHash,
        /// The key.
        key: KeyId,
    },
    /// Gives the key of a connector another access token. The key keeps the prefix by which lists and the audit log name it.
    /// A node that knows the former token may accept it until that expires. Stale if the key is not in force, or is not a connector's.
    RenewKey {
        /// The organization.
        org: OrgId,
        /// The key.
        key: KeyId,
        /// The hash of the new token.
        hash: KeyHash,
        /// From this instant on, the new token is refused.
        expires_at: Timestamp,
    },
    /// Stores a refresh token.
    PutRefreshToken(RefreshToken),
    /// Marks a refresh token as exchanged. Stale if it was exchanged before.
    SpendRefreshToken {
        /// The organization.
        org: OrgId,
        /// The hash of the token.
        hash: TokenHash,
        /// When.
        at: Timestamp,
    },
    /// Revokes a key of either kind. Stale if there is no such key in force.
    RevokeKey {
        /// The organization.
        org: OrgId,
        /// The key.
        key: KeyId,
        /// When it stops working.
        at: Timestamp,
    },
    /// Revokes every key of the organization that is in force.
    RevokeKeys {
        /// The organization.
        org: OrgId,
        /// Whether the keys of its agents are revoked too.
        of_agents: bool,
        /// When they stop working.
        at: Timestamp,
    },
    /// Replaces the code of an organization.
    PutCode {
        /// The row to write.
        code: VerificationCode,
        /// The version that was read; `None` if there was no row.
        seen: Option<Version>,
    },
    /// Records an acceptance of terms.
    RecordAcceptance {
        /// The organization.
        org: OrgId,
        /// The accepted version and the time.
        acceptance: Acceptance,
    },
    /// Creates a claim. Stale if the same user has a claim that waits for a code mailed to the same address.
    CreateClaim(Claim),
    /// Updates a claim. Stale if another claim on the organization is already on hold.
    UpdateClaim {
        /// The row to write.
        claim: Claim,
        /// The version that was read.
        seen: Version,
    },
    /// Links an identity, which signs in its user from now on. Stale if it already signs in a user.
    AddIdentity(KnownIdentity),
    /// Removes all identities of a user.
    RemoveIdentities(UserId),
    /// Deletes an organization at once, with its keys, its members and invitations, the sessions that are switched to
    /// it, and the rows on which workers, users or guests would still act. Its acceptances no longer name an organization. Its
    /// other rows are removed later ([`crate::ports::Deletions`]).
    DeleteOrganization {
        /// The organization.
        org: OrgId,
        /// The version that was read.
        seen: Version,
        /// When it is deleted.
        at: Timestamp,
    },
    /// Creates a user. Fails as a duplicate if the user holds an address that another user holds.
    CreateUser(User),
    /// Updates a user. Fails as a duplicate if the user holds an address that another user holds.
    UpdateUser {
        /// The row to write.
        user: User,
        /// The version that was read.
        seen: Version,
    },
    /// Makes the user the first owner of the organization, which raises the user's version. Stale if the user's version
    /// has changed, if the organization does not exist, or if it has an owner.
    AddOwner {
        /// The membership, as an owner.
        membership: Membership,
        /// The user's version that was read.
        seen: Version,
    },
    /// Makes the user a member of the organization, which raises the user's version. Stale if the user's version has
    /// changed, if the organization does not exist, or if the user is a member of it. A decision about members also
    /// updates the organization, so that such decisions are made one after the other.
    AddMember {
        /// The membership.
        membership: Membership,
        /// The user's version that was read.
        seen: Version,
    },
    /// Changes the role of a member, which raises the user's version. Stale if the user's version has changed, if the
    /// user is not a member of the organization, or if no owner would be left.
    ChangeRole {
        /// The membership with the new role.
        membership: Membership,
        /// The user's version that was read.
        seen: Version,
    },
    /// Removes the user from the organization, which raises the user's version, and deletes the user's sessions that are
    /// switched to it. Stale if the user's version has changed, or if the user is not a member of the organization.
    RemoveMember {
        /// The user.
        user: UserId,
        /// The organization.
        org: OrgId,
        /// The user's version that was read.
        seen: Version,
    },
    /// Raises the user's version. A decision that relies on a membership is made stale by one that ends it, and the other
    /// way round. Stale if the user's version has changed.
    RaiseUser {
        /// The user.
        user: UserId,
        /// The version that was read.
        seen: Version,
    },
    /// Stores an invitation in place of the one that the organization has for the same address, if any. Stale if the
    /// organization does not exist.
    PutInvitation(MemberInvitation),
    /// Removes an invitation of the organization. Stale if there is none.
    RemoveInvitation {
        /// The organization.
        org: OrgId,
        /// The invitation.
        id: MemberInvitationId,
    },
    /// Stores a token of a user in place of the one for the same purpose. Stale if the user does not exist.
    PutUserToken(UserToken),
    /// Uses up a token of a user. Stale if it was used or replaced before.
    UseUserToken(TokenHash),
    /// Stores a second factor that waits for its first code, in place of another such one. Stale if the user does not
    /// exist, or has a confirmed one.
    PutSecondFactor(SecondFactor),
    /// Confirms a second factor: writes when, and the step of the first code. Its recovery codes are not written. Stale
    /// if it is confirmed, or was replaced since it was read.
    ConfirmSecondFactor(SecondFactor),
    /// Uses up a code of a confirmed second factor. Stale if the code was used since: if the last step is no longer the
    /// one that was read, or if the recovery code is gone.
    UseSecondFactor {
        /// The user.
        user: UserId,
        /// What is used up.
        used: FactorUse,
        /// The last step that was read.
        seen: Option<u64>,
    },
    /// Replaces the recovery codes of a user. Stale if the user has no confirmed second factor.
    PutRecoveryCodes {
        /// The user.
        user: UserId,
        /// The hashes of the codes, each once.
        codes: Vec<TokenHash>,
    },
    /// Removes the second factor of a user with its recovery codes, if there is one.
    RemoveSecondFactor(UserId),
    /// Deletes a user, with their sessions, identities, claims, memberships, tokens, second factor and the codes that they
    /// granted to connectors. Stale if the user's version has changed.
    DeleteUser {
        /// The user.
        user: UserId,
        /// The version that was read.
        seen: Version,
    },
    /// Creates a session. Stale if the user's version has changed: someone who signs in with a password that is being
    /// changed has to try again.
    CreateSession {
        /// The row to write.
        session: Session,
        /// The user's version that was read.
        seen: Version,
    },
    /// Switches the session to an organization, or to none. Stale if the session is not in force at `at`. Whether the
    /// user belongs to the organization is checked whenever the session is used ([`crate::active_membership`]).
    SwitchSession {
        /// The row to write.
        session: Session,
        /// The current time.
        at: Timestamp,
    },
    /// Ends the sessions that [`SessionEnd::ends`] selects. A session that has already ended keeps its time.
    EndSessions {
        /// The sessions to end.
        end: SessionEnd,
        /// When they end.
        at: Timestamp,
    },
}
