//! A row of `sessions`.

use kalends_accounts::Session;
use kalends_kernel::{OrgId, SessionId, StoreError, UserId};
use kalends_time::Timestamp;

use crate::{Key, Located, row_id};

columns! {
    /// The columns of a session.
    pub struct SessionRow<K> {
        id: K,
        user_id: K,
        org_id: Option<K>,
        created_at: i64,
        expires_at: i64,
        revoked_at: Option<i64>,
    }
}

impl<K: Key> SessionRow<K> {
    /// The session, or an error that names the corrupt column.
    pub fn into_domain(self) -> Result<Session, StoreError> {
        let id = SessionId::from_uuid(row_id("sessions", "id", &self.id)?);
        let row = Located { table: "sessions", id: &id };
        Ok(Session {
            id,
            user: UserId::from_uuid(row.uuid("user_id", &self.user_id)?),
            org: row.uuid_if_any("org_id", self.org_id.as_ref())?.map(OrgId::from_uuid),
            created_at: Timestamp::from_micros(self.created_at),
            expires_at: Timestamp::from_micros(self.expires_at),
            revoked_at: self.revoked_at.map(Timestamp::from_micros),
        })
    }
}
