//! A row of `api_keys` with that of its organization.

use kalends_accounts::{
    Credential, KeyKind, Principal, Reach, ScopedKey,
    reach::{CallerKind, ScopedAgent},
};
use kalends_calendars::AgentStatus;
use kalends_kernel::{AgentId, KeyId, OrgId, StoreError};
use kalends_plans::Plan;

use crate::organization::overridden;
use crate::scoped_key::{read_approval, read_connector, read_scopes};
use crate::{Key, Located, row_id};

columns! {
    /// The columns that make up a principal.
    pub struct PrincipalRow<K> {
        id: K,
        org_id: K,
        kind: String,
        prefix: String,
        agent_id: Option<K>,
        agent_status: Option<String>,
        scopes: Option<String>,
        requires_approval: Option<String>,
        approval_minutes: Option<i64>,
        client_id: Option<K>,
        access_expires_at: Option<i64>,
        plan: String,
        limit_overrides: Option<String>,
        waitlisted_at: Option<i64>,
        accepted_terms: Option<String>,
    }
}

impl<K: Key> PrincipalRow<K> {
    /// The principal, or an error that names the corrupt column.
    pub fn into_domain(self) -> Result<Principal, StoreError> {
        let key = KeyId::from_uuid(row_id("api_keys", "id", &self.id)?);
        let org = OrgId::from_uuid(Located { table: "api_keys", id: &key }.uuid("org_id", &self.org_id)?);
        let row = Located { table: "organizations", id: &org };
        let plan = row.named("plan", &self.plan, Plan::from_name)?;
        let limits = overridden(&row, plan.limits(), self.limit_overrides.as_deref())?;
        let own = Located { table: "api_keys", id: &key };
        let (kind, reach) = match (self.agent_id.as_ref(), self.agent_status.as_deref()) {
            (Some(agent), Some(status)) if self.kind == ScopedKey::KIND => {
                let id = AgentId::from_uuid(own.uuid("agent_id", agent)?);
                let status = Located { table: "agents", id: &id }.named("status", status, AgentStatus::from_name)?;
                let scopes = read_scopes(&own, self.scopes.as_deref())?;
                let agent = ScopedAgent { id, paused: status == AgentStatus::Paused, scopes };
                (CallerKind::AgentKey, Reach::Agent(agent))
            }
            _ => (CallerKind::of_key(own.named("kind", &self.kind, KeyKind::from_name)?), Reach::Organization),
        };
        let approval = read_approval(&own, self.requires_approval.as_deref(), self.approval_minutes)?;
        let connector = read_connector(&own, self.client_id.as_ref(), self.access_expires_at)?;
        Ok(Principal {
            signed_in: None,
            approval,
            connector,
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
