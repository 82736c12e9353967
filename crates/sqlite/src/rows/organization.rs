//! A row of `organizations`.

use kalends_accounts::{Acceptance, Email, OrgName, Organization, SignUpSource, Waitlist};
use kalends_kernel::{OrgId, StoreError, Timestamp, Version};
use kalends_quotas::{Limits, Plan};
use serde_json::Value;

use super::{Row, row_id};

pub(crate) struct OrganizationRow {
    pub(crate) id: Vec<u8>,
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
    let row = Row { table: "organizations", id: &org };
    let limits = row.named("plan", Plan::from_name, plan)?.limits();
    let overrides: Option<Value> = row.read("limit_overrides", overrides.map(serde_json::from_str).transpose())?;
    overrides.map_or(Ok(limits), |overrides| row.read("limit_overrides", limits.overridden(&overrides)))
}

impl OrganizationRow {
    pub(crate) fn read(self) -> Result<Organization, StoreError> {
        let id = OrgId::from_uuid(row_id("organizations", "id", &self.id)?);
        let row = Row { table: "organizations", id: &id };
        let overrides = self.limit_overrides.as_deref().map(serde_json::from_str).transpose();
        let accepted = match (self.accepted_terms, self.accepted_at) {
            (Some(version), Some(at)) => Some(Acceptance { version, at: Timestamp::from_micros(at) }),
            (None, None) => None,
            _ => return Err(row.corrupt("accepted_at", "the version and the time must be given together")),
        };
        let organization = Organization {
            id,
            name: OrgName::from_stored(self.name),
            plan: row.named("plan", Plan::from_name, &self.plan)?,
            limit_overrides: row.read("limit_overrides", overrides)?,
            test: self.test,
            email: self.email.map(Email::from_stored),
            verified_at: self.verified_at.map(Timestamp::from_micros),
            waitlist: self.waitlisted_at.map_or(Waitlist::Active, |at| Waitlist::Since(Timestamp::from_micros(at))),
            source: row.named("signup_source", SignUpSource::from_name, &self.signup_source)?,
            accepted,
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
        };
        row.read("limit_overrides", organization.limits())?;
        Ok(organization)
    }
}
