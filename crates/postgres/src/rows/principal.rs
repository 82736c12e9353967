//! A key joined with its organization: the columns of its principal.

use kalends_accounts::reach::{CallerKind, ScopedAgent};
use kalends_accounts::{Credential, KeyKind, Principal, Reach, ScopedKey};
use kalends_calendars::AgentStatus;
use kalends_kernel::{AgentId, KeyId, OrgId, StoreError};
use kalends_quotas::{Limits, Plan};
use uuid::Uuid;

use super::Located;

/// The columns that make up a principal.
pub(crate) struct PrincipalRow {
    pub(crate) org_id: Uuid,
    pub(crate) key_id: Uuid,
    pub(crate) kind: String,
    pub(crate) prefix: String,
    pub(crate) agent_id: Option<Uuid>,
    pub(crate) agent_status: Option<String>,
    pub(crate) plan: String,
    pub(crate) limit_overrides: Option<String>,
    pub(crate) waitlisted_at: Option<i64>,
    pub(crate) accepted_terms: Option<String>,
}

impl PrincipalRow {
    pub(crate) fn into_domain(self) -> Result<Principal, StoreError> {
        let org = OrgId::from_uuid(self.org_id);
        let key = KeyId::from_uuid(self.key_id);
        let organization = Located { table: "organizations", id: org };
        let plan = organization.named("plan", &self.plan, Plan::from_name)?;
        let limits = match self.limit_overrides.as_deref() {
            None => plan.limits(),
            Some(text) => overridden(&organization, plan.limits(), text)?,
        };
        let (kind, reach) = match (self.agent_id.map(AgentId::from_uuid), self.agent_status.as_deref()) {
            (Some(id), Some(status)) if self.kind == ScopedKey::KIND => {
                let status = Located { table: "agents", id }.named("status", status, AgentStatus::from_name)?;
                let agent = ScopedAgent { id, paused: status == AgentStatus::Paused };
                (CallerKind::AgentKey, Reach::Agent(agent))
            }
            _ => {
                let kind = Located { table: "api_keys", id: key }.named("kind", &self.kind, KeyKind::from_name)?;
                (CallerKind::of_key(kind), Reach::Organization)
            }
        };
        Ok(Principal {
            credential: Credential::Key(key),
            key_prefix: self.prefix,
            org,
            kind,
            reach,
            waitlisted: self.waitlisted_at.is_some(),
            plan,
            limits,
            accepted_terms: self.accepted_terms,
        })
    }
}

fn overridden(organization: &Located<OrgId>, limits: Limits, text: &str) -> Result<Limits, StoreError> {
    let overrides = serde_json::from_str(text).map_err(|error| organization.corrupt("limit_overrides", error))?;
    limits.overridden(&overrides).map_err(|error| organization.corrupt("limit_overrides", error))
}
