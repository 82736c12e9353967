//! Rows of `users` and `organization_owners`.

use kalends_accounts::{Email, Ownership, PasswordHash, User, UserName};
use kalends_kernel::{OrgId, Timestamp, UserId, Version};
use uuid::Uuid;

/// The columns of a user.
pub(crate) struct UserRow {
    pub(crate) id: Uuid,
    pub(crate) email: String,
    pub(crate) email_verified_at: Option<i64>,
    pub(crate) name: String,
    pub(crate) password_hash: Option<String>,
    pub(crate) version: i64,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
}

impl UserRow {
    pub(crate) fn into_domain(self) -> User {
        User {
            id: UserId::from_uuid(self.id),
            email: Email::from_stored(self.email),
            email_verified_at: self.email_verified_at.map(Timestamp::from_micros),
            name: UserName::from_stored(self.name),
            password: self.password_hash.map(PasswordHash::new),
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
            updated_at: Timestamp::from_micros(self.updated_at),
        }
    }
}

/// The columns of an ownership.
pub(crate) struct OwnerRow {
    pub(crate) org_id: Uuid,
    pub(crate) user_id: Uuid,
    pub(crate) owned_since: i64,
}

impl OwnerRow {
    pub(crate) fn into_domain(self) -> Ownership {
        Ownership {
            user: UserId::from_uuid(self.user_id),
            org: OrgId::from_uuid(self.org_id),
            since: Timestamp::from_micros(self.owned_since),
        }
    }
}
