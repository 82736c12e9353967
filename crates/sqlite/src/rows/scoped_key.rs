//! A row of `api_keys` that is the key of an agent.

use kalends_accounts::{KeyHash, KeyLabel, ScopedKey};
use kalends_kernel::{AgentId, KeyId, OrgId, StoreError, Timestamp};

use super::{Row, row_id};

pub(crate) struct ScopedKeyRow {
    pub(crate) org_id: Vec<u8>,
    pub(crate) id: Vec<u8>,
    pub(crate) agent_id: Vec<u8>,
    pub(crate) label: Option<String>,
    pub(crate) hash: Vec<u8>,
    pub(crate) prefix: String,
    pub(crate) created_at: i64,
}

impl ScopedKeyRow {
    pub(crate) fn read(self) -> Result<ScopedKey, StoreError> {
        let id = KeyId::from_uuid(row_id("api_keys", "id", &self.id)?);
        let row = Row { table: "api_keys", id: &id };
        Ok(ScopedKey {
            id,
            org: OrgId::from_uuid(row.uuid("org_id", &self.org_id)?),
            agent: AgentId::from_uuid(row.uuid("agent_id", &self.agent_id)?),
            label: self.label.map(KeyLabel::from_stored),
            hash: KeyHash(row.digest("hash", &self.hash)?),
            prefix: self.prefix,
            created_at: Timestamp::from_micros(self.created_at),
        })
    }
}
