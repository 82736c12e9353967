//! A row of `api_keys` that is the key of an agent.

use kalends_accounts::{KeyHash, KeyLabel, ScopedKey, Scopes};
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
        scopes: Option<String>,
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
            scopes: read_scopes(&row, self.scopes.as_deref())?,
            hash: KeyHash(row.digest("hash", &self.hash)?),
            prefix: self.prefix,
            created_at: Timestamp::from_micros(self.created_at),
            created_by: self.created_by,
            last_used_on: self.last_used_on.map(CivilDate::from_days),
        })
    }
}

/// The column with a key's scopes. A key without any has none, like a key of an earlier release.
pub fn scopes_text(scopes: Scopes) -> Option<String> {
    (!scopes.is_empty()).then(|| scopes.to_text())
}

/// Reads the column of [`scopes_text`], or returns an error that names the row.
pub fn read_scopes(row: &Located<&KeyId>, text: Option<&str>) -> Result<Scopes, StoreError> {
    row.read("scopes", Scopes::from_text(text.unwrap_or_default()))
}
