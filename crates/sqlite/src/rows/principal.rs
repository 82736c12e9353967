//! A row of `api_keys` with that of its organization.

use kalends_accounts::{Principal, Reach};
use kalends_kernel::{KeyId, OrgId, StoreError};
use kalends_quotas::Plan;

use super::{Row, row_id};

pub(crate) struct PrincipalRow {
    pub(crate) id: Vec<u8>,
    pub(crate) org_id: Vec<u8>,
    pub(crate) prefix: String,
    pub(crate) plan: String,
    pub(crate) limit_overrides: Option<String>,
    pub(crate) waitlisted_at: Option<i64>,
    pub(crate) accepted_terms: Option<String>,
}

impl PrincipalRow {
    pub(crate) fn read(self) -> Result<Principal, StoreError> {
        let key = KeyId::from_uuid(row_id("api_keys", "id", &self.id)?);
        let org = OrgId::from_uuid(Row { table: "api_keys", id: &key }.uuid("org_id", &self.org_id)?);
        let row = Row { table: "organizations", id: &org };
        let plan = row.named("plan", Plan::from_name, &self.plan)?;
        let mut limits = plan.limits();
        if let Some(overrides) = self.limit_overrides.as_deref() {
            let overrides = row.read("limit_overrides", serde_json::from_str(overrides))?;
            limits = row.read("limit_overrides", limits.overridden(&overrides))?;
        }
        Ok(Principal {
            key,
            key_prefix: self.prefix,
            org,
            reach: Reach::Organization,
            waitlisted: self.waitlisted_at.is_some(),
            plan,
            limits,
            accepted_terms: self.accepted_terms,
        })
    }
}
