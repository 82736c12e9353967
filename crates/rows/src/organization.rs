//! A row of `organizations`.

use std::fmt::Display;

use kalends_accounts::{Acceptance, Email, OrgName, Organization, ReplyTo, SignUpSource, Waitlist};
use kalends_kernel::{OrgId, StoreError, Version};
use kalends_plans::{Limits, Plan};
use kalends_time::Timestamp;
use serde_json::Value;

use crate::{Key, Located, row_id};

columns! {
    $ macro organization_row;
    /// The columns of an organization.
    pub struct OrganizationRow<K> {
        id: K,
        name: String,
        plan: String,
        limit_overrides: Option<String>,
        test: bool,
        email: Option<String>,
        verified_at: Option<i64>,
        waitlisted_at: Option<i64>,
        signup_source: String,
        accepted_terms: Option<String>,
        accepted_at: Option<i64>,
        reply_to: Option<String>,
        version: i64,
        created_at: i64,
    }
}

/// The limits of an organization, if only its plan and overrides were read.
pub fn limits(org: OrgId, plan: &str, overrides: Option<&str>) -> Result<Limits, StoreError> {
    let row = Located { table: "organizations", id: &org };
    let limits = row.named("plan", plan, Plan::from_name)?.limits();
    overridden(&row, limits, overrides)
}

/// The limits of a plan with the organization's overrides.
pub(crate) fn overridden(
    row: &Located<impl Display>,
    limits: Limits,
    overrides: Option<&str>,
) -> Result<Limits, StoreError> {
    let overrides: Option<Value> = row.read("limit_overrides", overrides.map(serde_json::from_str).transpose())?;
    overrides.map_or(Ok(limits), |overrides| row.read("limit_overrides", limits.overridden(&overrides)))
}

/// The addresses for replies as JSON; `None` if there are none.
pub fn reply_to_json(reply_to: &ReplyTo) -> Option<String> {
    // Cannot fail: the addresses have no maps and no numbers that JSON cannot write.
    (*reply_to != ReplyTo::default()).then(|| serde_json::to_string(reply_to).unwrap_or_default())
}

impl<K: Key> OrganizationRow<K> {
    /// The organization, or an error that names the corrupt column.
    pub fn into_domain(self) -> Result<Organization, StoreError> {
        let id = OrgId::from_uuid(row_id("organizations", "id", &self.id)?);
        let row = Located { table: "organizations", id: &id };
        let overrides = self.limit_overrides.as_deref().map(serde_json::from_str).transpose();
        let accepted = match (self.accepted_terms, self.accepted_at) {
            (Some(version), Some(at)) => Some(Acceptance { version, at: Timestamp::from_micros(at) }),
            (None, None) => None,
            (Some(_), None) => return Err(row.corrupt("accepted_at", "missing although accepted_terms is set")),
            (None, Some(_)) => return Err(row.corrupt("accepted_terms", "missing although accepted_at is set")),
        };
        let organization = Organization {
            id,
            name: OrgName::from_stored(self.name),
            plan: row.named("plan", &self.plan, Plan::from_name)?,
            limit_overrides: row.read("limit_overrides", overrides)?,
            test: self.test,
            email: self.email.map(Email::from_stored),
            verified_at: self.verified_at.map(Timestamp::from_micros),
            waitlist: self.waitlisted_at.map_or(Waitlist::Active, |at| Waitlist::Since(Timestamp::from_micros(at))),
            source: row.named("signup_source", &self.signup_source, SignUpSource::from_name)?,
            accepted,
            reply_to: self.reply_to.as_deref().map_or(Ok(ReplyTo::default()), |json| {
                // An error of the parser may repeat the text: it contains an address.
                serde_json::from_str(json).map_err(|error| {
                    row.corrupt("reply_to", format_args!("is not a pair of addresses at column {}", error.column()))
                })
            })?,
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
        };
        row.read("limit_overrides", organization.limits())?;
        Ok(organization)
    }
}
