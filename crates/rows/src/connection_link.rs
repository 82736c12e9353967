//! Rows of `connection_links` and `connection_attempts`.

use kalends_accounts::{
    TokenHash,
    oauth::{Attempt, Provider},
};
use kalends_bridge::{ConnectAttempt, ConnectionLink, LinkStatus, NewLink, PublicationPolicy, Purpose};
use kalends_kernel::{AgentId, CalendarId, ConnectionId, ConnectionLinkId, OrgId, StoreError, UserId, Version};
use kalends_time::Timestamp;

use crate::{Key, Located, row_id};

columns! {
    /// The columns of a connection link.
    pub struct LinkRow<K> {
        org_id: K,
        id: K,
        agent_id: Option<K>,
        calendar_id: K,
        secret_hash: Vec<u8>,
        publishing: bool,
        policy: String,
        state: String,
        human_id: Option<K>,
        connection_id: Option<K>,
        expires_at: i64,
        version: i64,
        created_at: i64,
        updated_at: i64,
    }
}

impl<K: Key> LinkRow<K> {
    /// The link, or an error that names the corrupt column.
    pub fn into_domain(self) -> Result<ConnectionLink, StoreError> {
        let id = ConnectionLinkId::from_uuid(row_id("connection_links", "id", &self.id)?);
        let row = Located { table: "connection_links", id: &id };
        Ok(ConnectionLink {
            id,
            org: OrgId::from_uuid(row.uuid("org_id", &self.org_id)?),
            agent: row.uuid_if_any("agent_id", self.agent_id.as_ref())?.map(AgentId::from_uuid),
            calendar: CalendarId::from_uuid(row.uuid("calendar_id", &self.calendar_id)?),
            secret: TokenHash(row.digest("secret_hash", &self.secret_hash)?),
            requested: NewLink {
                publishing: self.publishing,
                policy: row.named("policy", &self.policy, PublicationPolicy::from_name)?,
            },
            state: row.named("state", &self.state, LinkStatus::from_name)?,
            human: row.uuid_if_any("human_id", self.human_id.as_ref())?.map(UserId::from_uuid),
            connection: row.uuid_if_any("connection_id", self.connection_id.as_ref())?.map(ConnectionId::from_uuid),
            expires_at: Timestamp::from_micros(self.expires_at),
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
            updated_at: Timestamp::from_micros(self.updated_at),
        })
    }
}

columns! {
    /// The columns of an attempt to connect.
    pub struct AttemptRow<K> {
        org_id: K,
        human_id: K,
        link_id: Option<K>,
        connection_id: Option<K>,
        provider: String,
        verifier: String,
        redirect_uri: String,
        publishing: bool,
        expires_at: i64,
    }
}

impl<K: Key> AttemptRow<K> {
    /// The attempt, or an error that names the corrupt column.
    pub fn into_domain(self, key: TokenHash) -> Result<ConnectAttempt, StoreError> {
        let row = Located { table: "connection_attempts", id: "an attempt" };
        let purpose = match (self.link_id, self.connection_id) {
            (link, None) => {
                let link = link.map(|link| row.uuid("link_id", &link).map(ConnectionLinkId::from_uuid));
                Purpose::Connect { link: link.transpose()? }
            }
            (None, Some(connection)) => {
                Purpose::Reauthorize { connection: ConnectionId::from_uuid(row.uuid("connection_id", &connection)?) }
            }
            (Some(_), Some(_)) => {
                return Err(row.corrupt("connection_id", "an attempt is for a link or a connection, not both"));
            }
        };
        Ok(ConnectAttempt {
            org: OrgId::from_uuid(row.uuid("org_id", &self.org_id)?),
            human: UserId::from_uuid(row.uuid("human_id", &self.human_id)?),
            purpose,
            publishing: self.publishing,
            oauth: Attempt {
                key,
                provider: row.named("provider", &self.provider, Provider::from_name)?,
                nonce: String::new(),
                verifier: self.verifier,
                redirect_uri: self.redirect_uri,
                terms_version: None,
                expires_at: Timestamp::from_micros(self.expires_at),
            },
        })
    }
}
