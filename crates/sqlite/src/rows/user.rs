//! Rows of `users` and `organization_owners`.

use kalends_accounts::{Email, Ownership, PasswordHash, User, UserName};
use kalends_kernel::{OrgId, StoreError, Timestamp, UserId, Version};

use super::{Row, row_id};

pub(crate) struct UserRow {
    pub(crate) id: Vec<u8>,
    pub(crate) email: String,
    pub(crate) email_verified_at: Option<i64>,
    pub(crate) name: String,
    pub(crate) password_hash: Option<String>,
    pub(crate) version: i64,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
}

impl UserRow {
    pub(crate) fn read(self) -> Result<User, StoreError> {
        Ok(User {
            id: UserId::from_uuid(row_id("users", "id", &self.id)?),
            email: Email::from_stored(self.email),
            email_verified_at: self.email_verified_at.map(Timestamp::from_micros),
            name: UserName::from_stored(self.name),
            password: self.password_hash.map(PasswordHash::new),
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
            updated_at: Timestamp::from_micros(self.updated_at),
        })
    }
}

pub(crate) struct OwnerRow {
    pub(crate) org_id: Vec<u8>,
    pub(crate) user_id: Vec<u8>,
    pub(crate) owned_since: i64,
}

impl OwnerRow {
    pub(crate) fn read(self) -> Result<Ownership, StoreError> {
        let org = OrgId::from_uuid(row_id("organization_owners", "org_id", &self.org_id)?);
        let row = Row { table: "organization_owners", id: &org };
        let user = UserId::from_uuid(row.uuid("user_id", &self.user_id)?);
        Ok(Ownership { user, org, since: Timestamp::from_micros(self.owned_since) })
    }
}
