//! Reads users, their memberships, and invitations to become a member.

use async_trait::async_trait;
use kalends_accounts::ports::{MemberInvitations, People};
use kalends_accounts::{Email, MemberInvitation, Membership, Organization, TokenHash, User};
use kalends_kernel::{OrgId, StoreError, UserId};
use kalends_time::Timestamp;

use crate::PostgresStore;
use crate::error::store_error;
use crate::retry::retried;
use crate::rows::{InvitationRow, MemberRow, MembershipRow, UserRow, organization_row};

#[async_trait]
impl People for PostgresStore {
    async fn find_user(&self, user: UserId) -> Result<Option<User>, StoreError> {
        let row = sqlx::query_as!(
            UserRow,
            "SELECT id, email, email_verified_at, holds_address, name, password_hash, version, created_at, updated_at
             FROM users
             WHERE id = $1",
            user.uuid(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        row.map(UserRow::into_domain).transpose()
    }

    async fn find_user_by_email(&self, email: &Email) -> Result<Option<User>, StoreError> {
        let row = sqlx::query_as!(
            UserRow,
            "SELECT id, email, email_verified_at, holds_address, name, password_hash, version, created_at, updated_at
             FROM users
             WHERE email = $1 AND holds_address",
            email.as_str(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        row.map(UserRow::into_domain).transpose()
    }

    async fn users_stating(&self, email: &Email, limit: u32) -> Result<Vec<User>, StoreError> {
        let rows = sqlx::query_as!(
            UserRow,
            "SELECT id, email, email_verified_at, holds_address, name, password_hash, version, created_at, updated_at
             FROM users
             WHERE email = $1 AND NOT holds_address
             ORDER BY created_at DESC, id DESC
             LIMIT $2",
            email.as_str(),
            i64::from(limit),
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        rows.into_iter().map(UserRow::into_domain).collect()
    }

    async fn memberships_of(&self, user: UserId) -> Result<Vec<Membership>, StoreError> {
        let rows = sqlx::query_as!(
            MembershipRow,
            r#"SELECT m.org_id AS "org_id!", m.user_id AS "user_id!", m.role AS "role!", m.since AS "since!"
             FROM memberships m JOIN organizations o ON o.id = m.org_id
             WHERE m.user_id = $1
             ORDER BY m.since, m.org_id"#,
            user.uuid(),
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        rows.into_iter().map(MembershipRow::into_domain).collect()
    }

    async fn organizations_of(&self, user: UserId) -> Result<Vec<(Membership, Organization)>, StoreError> {
        let records = sqlx::query!(
            r#"SELECT m.org_id AS "org_id!", m.user_id AS "user_id!", m.role AS "role!", m.since AS "since!",
                 o.id AS "id!", o.name AS "name!", o.plan AS "plan!", o.limit_overrides, o.test AS "test!", o.email,
                 o.verified_at, o.waitlisted_at, o.signup_source AS "signup_source!", o.accepted_terms, o.accepted_at,
                 o.reply_to, o.version AS "version!", o.created_at AS "created_at!"
             FROM memberships m JOIN organizations o ON o.id = m.org_id
             WHERE m.user_id = $1
             ORDER BY m.since, m.org_id"#,
            user.uuid(),
        );
        let records = records.fetch_all(&self.connections).await.map_err(store_error)?;
        let own = records.into_iter().map(|record| {
            let (org_id, user_id, role, since) = (record.org_id, record.user_id, record.role, record.since);
            let membership = MembershipRow { org_id, user_id, role, since }.into_domain()?;
            Ok((membership, organization_row!(record).into_domain()?))
        });
        own.collect()
    }

    async fn members_of(&self, org: OrgId) -> Result<Vec<(Membership, User)>, StoreError> {
        let rows = sqlx::query_as!(
            MemberRow,
            r#"SELECT m.org_id AS "org_id!", m.role AS "role!", m.since AS "since!", u.id, u.email, u.email_verified_at,
                 u.holds_address, u.name, u.password_hash, u.version, u.created_at, u.updated_at
             FROM memberships m JOIN users u ON u.id = m.user_id
             WHERE m.org_id = $1
             ORDER BY m.since, m.user_id"#,
            org.uuid(),
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        rows.into_iter().map(MemberRow::into_domain).collect()
    }

    async fn owner_of(&self, org: OrgId) -> Result<Option<Membership>, StoreError> {
        let row = sqlx::query_as!(
            MembershipRow,
            r#"SELECT m.org_id AS "org_id!", m.user_id AS "user_id!", m.role AS "role!", m.since AS "since!"
             FROM memberships m JOIN users u ON u.id = m.user_id
             WHERE m.org_id = $1 AND m.role = 'owner'
             ORDER BY m.since, m.user_id
             LIMIT 1"#,
            org.uuid(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        row.map(MembershipRow::into_domain).transpose()
    }
}

#[async_trait]
impl MemberInvitations for PostgresStore {
    async fn invitations_of(&self, org: OrgId) -> Result<Vec<MemberInvitation>, StoreError> {
        let rows = sqlx::query_as!(
            InvitationRow,
            "SELECT id, org_id, email, role, token_hash, invited_by, created_at, expires_at
             FROM member_invitations
             WHERE org_id = $1
             ORDER BY created_at, id",
            org.uuid(),
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        rows.into_iter().map(InvitationRow::into_domain).collect()
    }

    async fn find_invitation(&self, token: TokenHash) -> Result<Option<MemberInvitation>, StoreError> {
        let row = sqlx::query_as!(
            InvitationRow,
            "SELECT i.id, i.org_id, i.email, i.role, i.token_hash, i.invited_by, i.created_at, i.expires_at
             FROM member_invitations i JOIN organizations o ON o.id = i.org_id
             WHERE i.token_hash = $1",
            token.0.as_slice(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        row.map(InvitationRow::into_domain).transpose()
    }

    async fn is_invited(&self, email: &Email, now: Timestamp) -> Result<bool, StoreError> {
        let invited = sqlx::query_scalar!(
            r#"SELECT EXISTS (
                 SELECT FROM member_invitations i JOIN organizations o ON o.id = i.org_id
                 WHERE i.email = $1 AND i.expires_at > $2) AS "invited!""#,
            email.as_str(),
            now.as_micros(),
        );
        invited.fetch_one(&self.connections).await.map_err(store_error)
    }

    async fn forget_invitations(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let forgotten = retried(|| {
            sqlx::query!(
                "DELETE FROM member_invitations WHERE (org_id, id) IN (
                     SELECT org_id, id FROM member_invitations WHERE expires_at <= $1 LIMIT $2
                 )",
                now.as_micros(),
                i64::from(limit),
            )
            .execute(&self.connections)
        });
        Ok(forgotten.await.map_err(store_error)?.rows_affected())
    }
}
