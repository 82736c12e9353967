//! A row of `sessions`.

use kalends_accounts::Session;
use kalends_kernel::{OrgId, SessionId, StoreError, Timestamp, UserId};

use super::{Row, row_id};

pub(crate) struct SessionRow {
    pub(crate) id: Vec<u8>,
    pub(crate) user_id: Vec<u8>,
    pub(crate) org_id: Option<Vec<u8>>,
    pub(crate) created_at: i64,
    pub(crate) expires_at: i64,
    pub(crate) revoked_at: Option<i64>,
}

impl SessionRow {
    pub(crate) fn read(self) -> Result<Session, StoreError> {
        let id = SessionId::from_uuid(row_id("sessions", "id", &self.id)?);
        let row = Row { table: "sessions", id: &id };
        Ok(Session {
            id,
            user: UserId::from_uuid(row.uuid("user_id", &self.user_id)?),
            org: self.org_id.map(|org| row.uuid("org_id", &org).map(OrgId::from_uuid)).transpose()?,
            created_at: Timestamp::from_micros(self.created_at),
            expires_at: Timestamp::from_micros(self.expires_at),
            revoked_at: self.revoked_at.map(Timestamp::from_micros),
        })
    }
}
