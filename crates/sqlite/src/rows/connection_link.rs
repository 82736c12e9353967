//! Rows of `connection_links` and `connection_attempts`.

use kalends_accounts::{
    TokenHash,
    oauth::{Attempt, Provider},
};
use kalends_bridge::{ConnectAttempt, ConnectionLink, LinkStatus, NewLink, PublicationPolicy, Purpose};
use kalends_kernel::{
    AgentId, CalendarId, ConnectionId, ConnectionLinkId, OrgId, StoreError, Timestamp, UserId, Version,
};

use super::{Row, row_id};

pub(crate) struct ConnectionLinkRow {
    pub(crate) org_id: Vec<u8>,
    pub(crate) id: Vec<u8>,
    pub(crate) agent_id: Option<Vec<u8>>,
    pub(crate) calendar_id: Vec<u8>,
    pub(crate) secret_hash: Vec<u8>,
    pub(crate) publishing: bool,
    pub(crate) policy: String,
    pub(crate) state: String,
    pub(crate) human_id: Option<Vec<u8>>,
    pub(crate) connection_id: Option<Vec<u8>>,
    pub(crate) expires_at: i64,
    pub(crate) version: i64,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
}

impl ConnectionLinkRow {
    pub(crate) fn read(self) -> Result<ConnectionLink, StoreError> {
        let id = ConnectionLinkId::from_uuid(row_id("connection_links", "id", &self.id)?);
        let row = Row { table: "connection_links", id: &id };
        let perhaps = |column, bytes: Option<Vec<u8>>| bytes.map(|bytes| row.uuid(column, &bytes)).transpose();
        Ok(ConnectionLink {
            id,
            org: OrgId::from_uuid(row.uuid("org_id", &self.org_id)?),
            agent: perhaps("agent_id", self.agent_id)?.map(AgentId::from_uuid),
            calendar: CalendarId::from_uuid(row.uuid("calendar_id", &self.calendar_id)?),
            secret: TokenHash(row.digest("secret_hash", &self.secret_hash)?),
            asked: NewLink {
                publishing: self.publishing,
                policy: row.named("policy", PublicationPolicy::from_name, &self.policy)?,
            },
            state: row.named("state", LinkStatus::from_name, &self.state)?,
            human: perhaps("human_id", self.human_id)?.map(UserId::from_uuid),
            connection: perhaps("connection_id", self.connection_id)?.map(ConnectionId::from_uuid),
            expires_at: Timestamp::from_micros(self.expires_at),
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
            updated_at: Timestamp::from_micros(self.updated_at),
        })
    }
}

pub(crate) struct AttemptRow {
    pub(crate) org_id: Vec<u8>,
    pub(crate) human_id: Vec<u8>,
    pub(crate) link_id: Option<Vec<u8>>,
    pub(crate) connection_id: Option<Vec<u8>>,
    pub(crate) provider: String,
    pub(crate) verifier: String,
    pub(crate) redirect_uri: String,
    pub(crate) expires_at: i64,
}

impl AttemptRow {
    pub(crate) fn read(self, key: TokenHash) -> Result<ConnectAttempt, StoreError> {
        let row = Row { table: "connection_attempts", id: &"an attempt" };
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
            oauth: Attempt {
                key,
                provider: row.named("provider", Provider::from_name, &self.provider)?,
                nonce: String::new(),
                verifier: self.verifier,
                redirect_uri: self.redirect_uri,
                terms_version: None,
                expires_at: Timestamp::from_micros(self.expires_at),
            },
        })
    }
}
