//! A row of `api_keys` with that of its organization.

use kalends_accounts::{
    Credential, KeyKind, Principal, Reach, ScopedKey,
    reach::{CallerKind, ScopedAgent},
};
use kalends_calendars::AgentStatus;
use kalends_kernel::{AgentId, KeyId, OrgId, StoreError};
use kalends_quotas::Plan;

use super::{Row, row_id};

pub(crate) struct PrincipalRow {
    pub(crate) id: Vec<u8>,
    pub(crate) org_id: Vec<u8>,
    pub(crate) kind: String,
    pub(crate) prefix: String,
    pub(crate) agent_id: Option<Vec<u8>>,
    pub(crate) agent_status: Option<String>,
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
        let own = Row { table: "api_keys", id: &key };
        let (kind, reach) = match (self.agent_id.as_deref(), self.agent_status.as_deref()) {
            (Some(agent), Some(status)) if self.kind == ScopedKey::KIND => {
                let id = AgentId::from_uuid(own.uuid("agent_id", agent)?);
                let status = Row { table: "agents", id: &id }.named("status", AgentStatus::from_name, status)?;
                let agent = ScopedAgent { id, paused: status == AgentStatus::Paused };
                (CallerKind::AgentKey, Reach::Agent(agent))
            }
            _ => (CallerKind::of_key(own.named("kind", KeyKind::from_name, &self.kind)?), Reach::Organization),
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
