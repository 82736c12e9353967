//! A row of `audit_log`.

use kalends_accounts::{Action, AuditEntry};
use kalends_kernel::{AgentId, AuditId, OrgId, RequestId, StoreError};
use kalends_time::{SignedDuration, Timestamp};

use crate::{Key, Located, row_id};

columns! {
    /// The columns of an entry, except the organization.
    #[derive(serde::Deserialize)]
    pub struct AuditRow<K> {
        id: K,
        action: String,
        actor_key_prefix: Option<String>,
        agent_id: Option<K>,
        resource: String,
        ip: Option<String>,
        status: i64,
        method: String,
        path: String,
        duration_us: i64,
        request_id: K,
        created_at: i64,
    }
}

impl<K: Key> AuditRow<K> {
    /// The entry, or an error that names the corrupt column.
    pub fn into_domain(self, org: OrgId) -> Result<AuditEntry, StoreError> {
        let id = AuditId::from_uuid(row_id("audit_log", "id", &self.id)?);
        let row = Located { table: "audit_log", id: &id };
        Ok(AuditEntry {
            id,
            org,
            action: row.named("action", &self.action, Action::from_name)?,
            actor_key_prefix: self.actor_key_prefix,
            agent: row.uuid_if_any("agent_id", self.agent_id.as_ref())?.map(AgentId::from_uuid),
            resource: self.resource,
            ip: row.read("ip", self.ip.as_deref().map(str::parse).transpose())?,
            status: row.read("status", u16::try_from(self.status))?,
            method: self.method,
            path: self.path,
            duration: SignedDuration::micros(self.duration_us),
            request: RequestId::from_uuid(row.uuid("request_id", &self.request_id)?),
            created_at: Timestamp::from_micros(self.created_at),
        })
    }
}
