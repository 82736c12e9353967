//! What a decision writes.

use kalends_kernel::{KeyId, OrgId, Timestamp, UserId, Version};

use crate::{
    Acceptance, ApiKey, Claim, Organization, Ownership, PasswordReset, ScopedKey, Session, SessionEnd, TokenHash, User,
    VerificationCode, oauth::KnownIdentity,
};

/// One write to organizations, keys, codes, humans or sessions. Updates hold only while the row has the version that
/// was seen.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// A new organization. Fails as a duplicate where its address is taken.
    CreateOrganization(Organization),
    /// The organization as it is from now on.
    UpdateOrganization {
        /// The row to write.
        organization: Organization,
        /// The version that was read.
        seen: Version,
    },
    /// A new key.
    CreateKey(ApiKey),
    /// A new key of an agent. Stale where there is no such agent that is not decommissioned.
    CreateScopedKey(ScopedKey),
    /// Revokes a key of either sort. Stale where there is no such key in force.
    RevokeKey {
        /// The organization.
        org: OrgId,
        /// Which one.
        key: KeyId,
        /// Since when it opens nothing.
        at: Timestamp,
    },
    /// Revokes every key of the organization that speaks for no agent and was made before.
    RevokeOrganizationKeys {
        /// The organization.
        org: OrgId,
        /// Since when they open nothing.
        at: Timestamp,
    },
    /// The code of an organization, in place of the one it had.
    PutCode {
        /// The row to write.
        code: VerificationCode,
        /// The version that was read; `None` where there was no row.
        seen: Option<Version>,
    },
    /// One more acceptance of terms, for the record.
    RecordAcceptance {
        /// The organization.
        org: OrgId,
        /// What it accepted and when.
        acceptance: Acceptance,
    },
    /// A new claim. Stale where one of the same human waits for a code mailed to the same address.
    CreateClaim(Claim),
    /// The claim as it is from now on. Stale where another claim on the organization is on hold already.
    UpdateClaim {
        /// The row to write.
        claim: Claim,
        /// The version that was read.
        seen: Version,
    },
    /// The identity signs that human in from now on. Stale where it signs in somebody already.
    AddIdentity(KnownIdentity),
    /// No identity signs the human in any more.
    RemoveIdentities(UserId),
    /// The organization is no more: it is gone with its keys and its owner's hold of it, and the sessions that are
    /// switched to it, at once; its acceptances name no organization any more, and what else it had is removed
    /// later ([`crate::ports::Deletions`]).
    DeleteOrganization {
        /// The organization.
        org: OrgId,
        /// The version that was read.
        seen: Version,
        /// When it is deleted.
        at: Timestamp,
    },
    /// A new human. Fails as a duplicate where another has the address.
    CreateUser(User),
    /// The human as they are from now on. Fails as [`Self::CreateUser`] where another has the address.
    UpdateUser {
        /// The row to write.
        user: User,
        /// The version that was read.
        seen: Version,
    },
    /// The human owns the organization from now on, which raises the human's version. Stale where the human's
    /// version is another, where there is no such organization, and where it has an owner.
    AddOwner {
        /// Who owns what.
        ownership: Ownership,
        /// The human's version that was read.
        seen: Version,
    },
    /// The human owns the organization no more, which raises the human's version. Stale where the human's version
    /// is another, or the organization not theirs.
    RemoveOwner {
        /// Who.
        user: UserId,
        /// What.
        org: OrgId,
        /// The human's version that was read.
        seen: Version,
    },
    /// The token with which a human sets a password, in place of the one that they had.
    PutReset(PasswordReset),
    /// The token is used up. Stale where it was used or replaced before.
    UseReset(TokenHash),
    /// The human is no more, with all of their sessions, identities and claims, and what they own. Stale where their version is another.
    DeleteUser {
        /// Who.
        user: UserId,
        /// The version that was read.
        seen: Version,
    },
    /// A new session. Stale where the human's version is another: whoever signs in with a password that is being
    /// changed, tries again.
    CreateSession {
        /// The row.
        session: Session,
        /// The human's version that was read.
        seen: Version,
    },
    /// The session is switched to an organization, or to none. Stale where it is not in force at `at`. Whether the
    /// organization is the human's is asked whenever the session is used ([`crate::active_organization`]).
    SwitchSession {
        /// The row to write.
        session: Session,
        /// The present instant.
        at: Timestamp,
    },
    /// What ends so ([`SessionEnd::ends`]) is worth nothing from now on. What has ended before keeps its time.
    EndSessions {
        /// Which ones.
        end: SessionEnd,
        /// Since when.
        at: Timestamp,
    },
}
