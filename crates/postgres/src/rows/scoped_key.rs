//! The key of an agent.

use kalends_accounts::{KeyHash, KeyLabel, ScopedKey};
use kalends_kernel::{AgentId, KeyId, OrgId, StoreError, Timestamp};
use uuid::Uuid;

use super::Located;

/// The columns of an agent's key.
pub(crate) struct ScopedKeyRow {
    pub(crate) org_id: Uuid,
    pub(crate) id: Uuid,
    pub(crate) agent_id: Uuid,
    pub(crate) label: Option<String>,
    pub(crate) hash: Vec<u8>,
    pub(crate) prefix: String,
    pub(crate) created_at: i64,
}

impl ScopedKeyRow {
    pub(crate) fn into_domain(self) -> Result<ScopedKey, StoreError> {
        let id = KeyId::from_uuid(self.id);
        Ok(ScopedKey {
            id,
            org: OrgId::from_uuid(self.org_id),
            agent: AgentId::from_uuid(self.agent_id),
            label: self.label.map(KeyLabel::from_stored),
            hash: KeyHash(Located { table: "api_keys", id }.hash("hash", &self.hash)?),
            prefix: self.prefix,
            created_at: Timestamp::from_micros(self.created_at),
        })
    }
}
