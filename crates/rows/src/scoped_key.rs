//! A row of `api_keys` that is the key of an agent.

use std::fmt::Display;

use kalends_accounts::{ApprovalPolicy, ApprovedWrites, ConnectorAccess, KeyHash, KeyLabel, ScopedKey, Scopes};
use kalends_kernel::{AgentId, ConnectorClientId, KeyId, OrgId, StoreError};
use kalends_time::{CivilDate, SignedDuration, Timestamp};

use crate::{Key, Located, row_id};

/// A minute in microseconds.
const MINUTE: i64 = 60_000_000;

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
        requires_approval: Option<String>,
        approval_minutes: Option<i64>,
        client_id: Option<K>,
        access_expires_at: Option<i64>,
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
            approval: read_approval(&row, self.requires_approval.as_deref(), self.approval_minutes)?,
            connector: read_connector(&row, self.client_id.as_ref(), self.access_expires_at)?,
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
pub fn read_scopes<I: Display>(row: &Located<I>, text: Option<&str>) -> Result<Scopes, StoreError> {
    row.read("scopes", Scopes::from_text(text.unwrap_or_default()))
}

/// The columns with a key's approval policy: the writes, and how many minutes an approval waits.
pub fn approval_columns(policy: Option<&ApprovalPolicy>) -> (Option<String>, Option<i64>) {
    (policy.map(|policy| policy.covers.to_text()), policy.map(|policy| policy.lasts.as_micros() / MINUTE))
}

/// Reads the columns of [`approval_columns`], or returns an error that names the row.
pub fn read_approval(
    row: &Located<&KeyId>,
    writes: Option<&str>,
    minutes: Option<i64>,
) -> Result<Option<ApprovalPolicy>, StoreError> {
    let (writes, minutes) = match (writes, minutes) {
        (None, None) => return Ok(None),
        (Some(writes), Some(minutes)) => (writes, minutes),
        // Without an error, the key would need no approval.
        _ => return Err(row.corrupt("approval_minutes", "must be set exactly if writes need approval")),
    };
    let covers = row.read("requires_approval", ApprovedWrites::from_text(writes))?;
    Ok(Some(ApprovalPolicy { covers, lasts: SignedDuration::minutes(minutes) }))
}

/// Reads the columns that make a key that of a connector, or returns an error that names the row.
pub fn read_connector<K: Key>(
    row: &Located<&KeyId>,
    client: Option<&K>,
    expires_at: Option<i64>,
) -> Result<Option<ConnectorAccess>, StoreError> {
    let (client, expires_at) = match (client, expires_at) {
        (None, None) => return Ok(None),
        (Some(client), Some(expires_at)) => (client, expires_at),
        // Without an error, the key would never expire.
        _ => return Err(row.corrupt("access_expires_at", "must be set exactly if a client holds the key")),
    };
    let client = ConnectorClientId::from_uuid(row.uuid("client_id", client)?);
    Ok(Some(ConnectorAccess { client, expires_at: Timestamp::from_micros(expires_at) }))
}
