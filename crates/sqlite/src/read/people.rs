//! Users, their memberships, and invitations to become a member.

use async_trait::async_trait;
use kalends_accounts::{
    Email, MemberInvitation, Membership, Organization, TokenHash, User,
    ports::{MemberInvitations, People},
};
use kalends_kernel::{OrgId, StoreError, UserId};
use kalends_time::Timestamp;

use crate::{
    SqliteStore,
    error::store_error,
    rows::{InvitationRow, MemberRow, MembershipRow, UserRow, organization_row},
};

#[async_trait]
impl People for SqliteStore {
    async fn find_user(&self, user: UserId) -> Result<Option<User>, StoreError> {
        let id = user.uuid();
        sqlx::query_as!(
            UserRow,
            "select id, email, email_verified_at, holds_address, name, password_hash, version, created_at,
                updated_at
             from users where id = ?1",
            id
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?
        .map(UserRow::into_domain)
        .transpose()
    }

    async fn find_user_by_email(&self, email: &Email) -> Result<Option<User>, StoreError> {
        let email = email.as_str();
        sqlx::query_as!(
            UserRow,
            "select id, email, email_verified_at, holds_address, name, password_hash, version, created_at,
                updated_at
             from users where email = ?1 and holds_address",
            email
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?
        .map(UserRow::into_domain)
        .transpose()
    }

    async fn users_stating(&self, email: &Email, limit: u32) -> Result<Vec<User>, StoreError> {
        let email = email.as_str();
        sqlx::query_as!(
            UserRow,
            "select id, email, email_verified_at, holds_address, name, password_hash, version, created_at,
                updated_at
             from users where email = ?1 and not holds_address order by created_at desc, id desc limit ?2",
            email,
            limit
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?
        .into_iter()
        .map(UserRow::into_domain)
        .collect()
    }

    async fn memberships_of(&self, user: UserId) -> Result<Vec<Membership>, StoreError> {
        let id = user.uuid();
        sqlx::query_as!(
            MembershipRow,
            r#"select org_id as "org_id!: Vec<u8>", user_id as "user_id!: Vec<u8>", role as "role!: String",
                since as "since!: i64"
             from memberships cross join organizations o on o.id = org_id
             where user_id = ?1 order by since, org_id"#,
            id
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?
        .into_iter()
        .map(MembershipRow::into_domain)
        .collect()
    }

    async fn organizations_of(&self, user: UserId) -> Result<Vec<(Membership, Organization)>, StoreError> {
        let user_id = user.uuid();
        let rows = sqlx::query!(
            r#"select org_id as "org_id!: Vec<u8>", user_id as "user_id!: Vec<u8>", role as "role!: String",
                since as "since!: i64", o.id as "id!: Vec<u8>", o.name as "name!: String", o.plan as "plan!: String",
                o.limit_overrides as "limit_overrides?: String", o.test as "test!: bool", o.email as "email?: String",
                o.verified_at as "verified_at?: i64", o.waitlisted_at as "waitlisted_at?: i64",
                o.signup_source as "signup_source!: String", o.accepted_terms as "accepted_terms?: String",
                o.accepted_at as "accepted_at?: i64", o.reply_to as "reply_to?: String", o.version as "version!: i64",
                o.created_at as "created_at!: i64"
             from memberships cross join organizations o on o.id = org_id
             where user_id = ?1 order by since, org_id"#,
            user_id
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        let own = rows.into_iter().map(|row| {
            let (org_id, user_id, role, since) = (row.org_id, row.user_id, row.role, row.since);
            let membership = MembershipRow { org_id, user_id, role, since }.into_domain()?;
            Ok((membership, organization_row!(row).into_domain()?))
        });
        own.collect()
    }

    async fn members_of(&self, org: OrgId) -> Result<Vec<(Membership, User)>, StoreError> {
        let org_id = org.uuid();
        sqlx::query_as!(
            MemberRow,
            r#"select org_id as "org_id!: Vec<u8>", role as "role!: String", since as "since!: i64", u.id, u.email,
                u.email_verified_at, u.holds_address, u.name, u.password_hash, u.version, u.created_at, u.updated_at
             from memberships cross join users u on u.id = user_id
             where org_id = ?1 order by since, user_id"#,
            org_id
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?
        .into_iter()
        .map(MemberRow::into_domain)
        .collect()
    }

    async fn owner_of(&self, org: OrgId) -> Result<Option<Membership>, StoreError> {
        let org_id = org.uuid();
        sqlx::query_as!(
            MembershipRow,
            r#"select org_id as "org_id!: Vec<u8>", user_id as "user_id!: Vec<u8>", role as "role!: String",
                since as "since!: i64"
             from memberships cross join users u on u.id = user_id
             where org_id = ?1 and role = 'owner' order by since, user_id limit 1"#,
            org_id
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?
        .map(MembershipRow::into_domain)
        .transpose()
    }
}

#[async_trait]
impl MemberInvitations for SqliteStore {
    async fn invitations_of(&self, org: OrgId) -> Result<Vec<MemberInvitation>, StoreError> {
        let org_id = org.uuid();
        sqlx::query_as!(
            InvitationRow,
            "select id, org_id, email, role, token_hash, invited_by, created_at, expires_at
             from member_invitations where org_id = ?1 order by created_at, id",
            org_id
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?
        .into_iter()
        .map(InvitationRow::into_domain)
        .collect()
    }

    async fn find_invitation(&self, token: TokenHash) -> Result<Option<MemberInvitation>, StoreError> {
        let token = token.0.as_slice();
        sqlx::query_as!(
            InvitationRow,
            "select i.id, i.org_id, i.email, i.role, i.token_hash, i.invited_by, i.created_at, i.expires_at
             from member_invitations i cross join organizations o on o.id = i.org_id
             where i.token_hash = ?1",
            token
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?
        .map(InvitationRow::into_domain)
        .transpose()
    }

    async fn is_invited(&self, email: &Email, now: Timestamp) -> Result<bool, StoreError> {
        let (email, now) = (email.as_str(), now.as_micros());
        sqlx::query_scalar!(
            r#"select exists (
                select 1 from member_invitations i cross join organizations o on o.id = i.org_id
                where i.email = ?1 and i.expires_at > ?2) as "invited!: bool""#,
            email,
            now
        )
        .fetch_one(self.readers())
        .await
        .map_err(store_error)
    }

    async fn forget_invitations(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let now = now.as_micros();
        let mut writing = self.database.writer.take().await?;
        let forgotten = sqlx::query!(
            "delete from member_invitations where rowid in (
                select rowid from member_invitations where expires_at <= ?1 limit ?2)",
            now,
            limit
        )
        .execute(&mut writing.connection)
        .await;
        writing.done(forgotten).await
    }
}
