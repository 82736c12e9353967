//! Rows of `users`, of their memberships, and of `member_invitations`.

use kalends_accounts::{Email, MemberInvitation, Membership, PasswordHash, Role, TokenHash, User, UserName};
use kalends_kernel::{MemberInvitationId, OrgId, StoreError, UserId, Version};
use kalends_time::Timestamp;

use crate::{Key, Located, row_id};

columns! {
    /// The columns of a user.
    pub struct UserRow<K> {
        id: K,
        email: String,
        email_verified_at: Option<i64>,
        holds_address: bool,
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
            holds_address: self.holds_address,
            name: UserName::from_stored(self.name),
            password: self.password_hash.map(PasswordHash::new),
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
            updated_at: Timestamp::from_micros(self.updated_at),
        })
    }
}

columns! {
    /// The columns of a membership.
    pub struct MembershipRow<K> {
        org_id: K,
        user_id: K,
        role: String,
        since: i64,
    }
}

impl<K: Key> MembershipRow<K> {
    /// The membership, or an error that names the corrupt column.
    pub fn into_domain(self) -> Result<Membership, StoreError> {
        let org = OrgId::from_uuid(row_id("memberships", "org_id", &self.org_id)?);
        let row = Located { table: "memberships", id: &org };
        Ok(Membership {
            user: UserId::from_uuid(row.uuid("user_id", &self.user_id)?),
            org,
            role: row.named("role", &self.role, Role::from_name)?,
            since: Timestamp::from_micros(self.since),
        })
    }
}

columns! {
    /// The columns of a membership with its user.
    pub struct MemberRow<K> {
        org_id: K,
        role: String,
        since: i64,
        id: K,
        email: String,
        email_verified_at: Option<i64>,
        holds_address: bool,
        name: String,
        password_hash: Option<String>,
        version: i64,
        created_at: i64,
        updated_at: i64,
    }
}

impl<K: Key> MemberRow<K> {
    /// The membership and the user, or an error that names the corrupt column.
    pub fn into_domain(self) -> Result<(Membership, User), StoreError> {
        let user = UserRow {
            id: self.id,
            email: self.email,
            email_verified_at: self.email_verified_at,
            holds_address: self.holds_address,
            name: self.name,
            password_hash: self.password_hash,
            version: self.version,
            created_at: self.created_at,
            updated_at: self.updated_at,
        };
        let user = user.into_domain()?;
        let org = OrgId::from_uuid(row_id("memberships", "org_id", &self.org_id)?);
        let role = Located { table: "memberships", id: &org }.named("role", &self.role, Role::from_name)?;
        Ok((Membership { user: user.id, org, role, since: Timestamp::from_micros(self.since) }, user))
    }
}

columns! {
    /// The columns of an invitation to become a member.
    pub struct InvitationRow<K> {
        id: K,
        org_id: K,
        email: String,
        role: String,
        token_hash: Vec<u8>,
        invited_by: K,
        created_at: i64,
        expires_at: i64,
    }
}

impl<K: Key> InvitationRow<K> {
    /// The invitation, or an error that names the corrupt column.
    pub fn into_domain(self) -> Result<MemberInvitation, StoreError> {
        let id = MemberInvitationId::from_uuid(row_id("member_invitations", "id", &self.id)?);
        let row = Located { table: "member_invitations", id: &id };
        Ok(MemberInvitation {
            id,
            org: OrgId::from_uuid(row.uuid("org_id", &self.org_id)?),
            email: Email::from_stored(self.email),
            role: row.named("role", &self.role, Role::from_name)?,
            token: TokenHash(row.digest("token_hash", &self.token_hash)?),
            invited_by: UserId::from_uuid(row.uuid("invited_by", &self.invited_by)?),
            created_at: Timestamp::from_micros(self.created_at),
            expires_at: Timestamp::from_micros(self.expires_at),
        })
    }
}
