//! What a decision writes.

use kalends_kernel::{Instant, KeyId, OrgId, Version};

use crate::{Acceptance, ApiKey, Claim, Organization, ScopedKey, VerificationCode};

/// One write to organizations, keys or codes. Updates hold only while the row has the version that
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
        at: Instant,
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
    /// The organization is no more: it is gone with its keys at once, its acceptances name no organization any
    /// more, and what else it had is removed later ([`crate::ports::Deletions`]).
    DeleteOrganization {
        /// The organization.
        org: OrgId,
        /// The version that was read.
        seen: Version,
        /// When it is deleted.
        at: Instant,
    },
}
