//! Rows of `organizations` and `verification_codes`.

use kalends_accounts::{Acceptance, CodeHash, Email, OrgName, Organization, SignUpSource, VerificationCode, Waitlist};
use kalends_kernel::{OrgId, StoreError, Timestamp, Version};
use kalends_quotas::{Limits, Plan};
use serde_json::Value;
use uuid::Uuid;

use super::Located;

/// The columns of an organization.
pub(crate) struct OrganizationRow {
    pub(crate) id: Uuid,
    pub(crate) name: String,
    pub(crate) plan: String,
    pub(crate) limit_overrides: Option<String>,
    pub(crate) test: bool,
    pub(crate) email: Option<String>,
    pub(crate) verified_at: Option<i64>,
    pub(crate) waitlisted_at: Option<i64>,
    pub(crate) signup_source: String,
    pub(crate) accepted_terms: Option<String>,
    pub(crate) accepted_at: Option<i64>,
    pub(crate) version: i64,
    pub(crate) created_at: i64,
}

/// The limits of an organization, if only its plan and overrides were read.
pub(crate) fn limits(org: OrgId, plan: &str, overrides: Option<&str>) -> Result<Limits, StoreError> {
    let row = Located { table: "organizations", id: org };
    let limits = row.named("plan", plan, Plan::from_name)?.limits();
    let overrides = overrides.map(serde_json::from_str::<Value>).transpose();
    match overrides.map_err(|error| row.corrupt("limit_overrides", error))? {
        Some(overrides) => limits.overridden(&overrides).map_err(|error| row.corrupt("limit_overrides", error)),
        None => Ok(limits),
    }
}

impl OrganizationRow {
    pub(crate) fn into_domain(self) -> Result<Organization, StoreError> {
        let id = OrgId::from_uuid(self.id);
        let row = Located { table: "organizations", id };
        let limit_overrides = self.limit_overrides.as_deref().map(serde_json::from_str).transpose();
        let accepted = match (self.accepted_terms, self.accepted_at) {
            (Some(version), Some(at)) => Some(Acceptance { version, at: Timestamp::from_micros(at) }),
            (None, None) => None,
            (Some(_), None) => return Err(row.corrupt("accepted_at", "missing although accepted_terms is set")),
            (None, Some(_)) => return Err(row.corrupt("accepted_terms", "missing although accepted_at is set")),
        };
        Ok(Organization {
            id,
            name: OrgName::from_stored(self.name),
            plan: row.named("plan", &self.plan, Plan::from_name)?,
            limit_overrides: limit_overrides.map_err(|error| row.corrupt("limit_overrides", error))?,
            test: self.test,
            email: self.email.map(Email::from_stored),
            verified_at: self.verified_at.map(Timestamp::from_micros),
            waitlist: self.waitlisted_at.map_or(Waitlist::Active, |at| Waitlist::Since(Timestamp::from_micros(at))),
            source: row.named("signup_source", &self.signup_source, SignUpSource::from_name)?,
            accepted,
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
        })
    }
}

/// The columns of a verification code.
pub(crate) struct CodeRow {
    pub(crate) org_id: Uuid,
    pub(crate) hash: Vec<u8>,
    pub(crate) expires_at: i64,
    pub(crate) attempts: i32,
    pub(crate) version: i64,
}

impl CodeRow {
    pub(crate) fn into_domain(self) -> Result<VerificationCode, StoreError> {
        let org = OrgId::from_uuid(self.org_id);
        let row = Located { table: "verification_codes", id: org };
        Ok(VerificationCode {
            org,
            hash: CodeHash(row.hash("hash", &self.hash)?),
            expires_at: Timestamp::from_micros(self.expires_at),
            attempts: u32::try_from(self.attempts).map_err(|_| row.corrupt("attempts", "must not be negative"))?,
            version: Version(self.version),
        })
    }
}
