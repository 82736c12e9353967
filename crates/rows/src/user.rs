//! Rows of `users` and `organization_owners`.

use kalends_accounts::{Email, Ownership, PasswordHash, User, UserName};
use kalends_kernel::{OrgId, StoreError, UserId, Version};
use kalends_time::Timestamp;

use crate::{Key, Located, row_id};

columns! {
    /// The columns of a user.
    pub struct UserRow<K> {
        id: K,
        email: String,
        email_verified_at: Option<i64>,
        name: String,
        password_hash: Option<String>,
        version: i64,
        created_at: i64,
        updated_at: i64,
    }
}

impl<K: Key> UserRow<K> {
    /// The user, or an error that names the corrupt column.
    pub fn into_domain(self) -> Result<User, StoreError> {
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

columns! {
    /// The columns of an ownership.
    pub struct OwnerRow<K> {
        org_id: K,
        user_id: K,
        owned_since: i64,
    }
}

impl<K: Key> OwnerRow<K> {
    /// The ownership, or an error that names the corrupt column.
    pub fn into_domain(self) -> Result<Ownership, StoreError> {
        let org = OrgId::from_uuid(row_id("organization_owners", "org_id", &self.org_id)?);
        let row = Located { table: "organization_owners", id: &org };
        let user = UserId::from_uuid(row.uuid("user_id", &self.user_id)?);
        Ok(Ownership { user, org, since: Timestamp::from_micros(self.owned_since) })
    }
}
