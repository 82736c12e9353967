//! A row of `api_keys` that is the key of an agent.

use kalends_accounts::{KeyHash, KeyLabel, ScopedKey};
use kalends_kernel::{AgentId, KeyId, OrgId, StoreError};
use kalends_time::{CivilDate, Timestamp};

use crate::{Key, Located, row_id};

columns! {
    /// The columns of an agent's key.
    pub struct ScopedKeyRow<K> {
        org_id: K,
        id: K,
        agent_id: K,
        label: Option<String>,
        hash: Vec<u8>,
        prefix: String,
        created_at: i64,
        created_by: Option<String>,
        last_used_on: Option<i64>,
    }
}

impl<K: Key> ScopedKeyRow<K> {
    /// The key, or an error that names the corrupt column.
    pub fn into_domain(self) -> Result<ScopedKey, StoreError> {
        let id = KeyId::from_uuid(row_id("api_keys", "id", &self.id)?);
        let row = Located { table: "api_keys", id: &id };
        Ok(ScopedKey {
            id,
            org: OrgId::from_uuid(row.uuid("org_id", &self.org_id)?),
            agent: AgentId::from_uuid(row.uuid("agent_id", &self.agent_id)?),
            label: self.label.map(KeyLabel::from_stored),
            hash: KeyHash(row.digest("hash", &self.hash)?),
            prefix: self.prefix,
            created_at: Timestamp::from_micros(self.created_at),
            created_by: self.created_by,
            last_used_on: self.last_used_on.map(CivilDate::from_days),
        })
    }
}
