//! A row of `sessions`.

use kalends_accounts::Session;
use kalends_kernel::{OrgId, SessionId, Timestamp, UserId};
use uuid::Uuid;

/// The columns of a session.
pub(crate) struct SessionRow {
    pub(crate) id: Uuid,
    pub(crate) user_id: Uuid,
    pub(crate) org_id: Option<Uuid>,
    pub(crate) created_at: i64,
    pub(crate) expires_at: i64,
    pub(crate) revoked_at: Option<i64>,
}

impl SessionRow {
    pub(crate) fn into_domain(self) -> Session {
        Session {
            id: SessionId::from_uuid(self.id),
            user: UserId::from_uuid(self.user_id),
            org: self.org_id.map(OrgId::from_uuid),
            created_at: Timestamp::from_micros(self.created_at),
            expires_at: Timestamp::from_micros(self.expires_at),
            revoked_at: self.revoked_at.map(Timestamp::from_micros),
        }
    }
}
