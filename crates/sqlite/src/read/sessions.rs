//! Console sessions.

use async_trait::async_trait;
use kalends_accounts::{Session, SignedIn, ports::Sessions};
use kalends_kernel::{SessionId, StoreError, UserId};
use kalends_time::Timestamp;

use crate::{
    SqliteStore,
    error::store_error,
    rows::{SessionRow, SignedInRow},
};

#[async_trait]
impl Sessions for SqliteStore {
    async fn find_session(&self, session: SessionId) -> Result<Option<Session>, StoreError> {
        let id = session.uuid();
        sqlx::query_as!(
            SessionRow,
            "select id, user_id, org_id, created_at, expires_at, revoked_at from sessions where id = ?1",
            id
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?
        .map(SessionRow::into_domain)
        .transpose()
    }

    async fn find_signed_in(&self, session: SessionId, user: UserId) -> Result<Option<SignedIn>, StoreError> {
        let (id, user_id) = (session.uuid(), user.uuid());
        sqlx::query_as!(
            SignedInRow,
            r#"select s.id as "session_id!: Vec<u8>", s.user_id as "session_user_id!: Vec<u8>", s.org_id as "session_org_id?: Vec<u8>",
                s.created_at as "session_created_at!: i64", s.expires_at as "expires_at!: i64", s.revoked_at as "revoked_at?: i64",
                u.id as "user_id!: Vec<u8>", u.email as "user_email!: String", u.email_verified_at as "email_verified_at?: i64",
                u.holds_address as "holds_address!: bool", u.name as "user_name!: String", u.password_hash as "password_hash?: String",
                u.version as "user_version!: i64", u.created_at as "user_created_at!: i64", u.updated_at as "updated_at!: i64",
                memberships.role as "role!: String", o.id as "id!: Vec<u8>", o.name as "name!: String", o.plan as "plan!: String",
                o.limit_overrides as "limit_overrides?: String", o.test as "test!: bool", o.email as "email?: String",
                o.verified_at as "verified_at?: i64", o.waitlisted_at as "waitlisted_at?: i64",
                o.signup_source as "signup_source!: String", o.accepted_terms as "accepted_terms?: String",
                o.accepted_at as "accepted_at?: i64", o.reply_to as "reply_to?: String", o.version as "version!: i64",
                o.created_at as "created_at!: i64"
             from sessions s
                cross join users u on u.id = s.user_id
                cross join memberships on memberships.user_id = ?2
                    and (s.org_id is null or memberships.org_id = s.org_id)
                cross join organizations o on o.id = memberships.org_id
             where s.id = ?1 and s.user_id = ?2
             order by memberships.since, memberships.org_id limit 1"#,
            id,
            user_id
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?
        .map(SignedInRow::into_domain)
        .transpose()
    }

    async fn forget_sessions(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let now = now.as_micros();
        let mut writing = self.database.writer.take().await?;
        let forgotten = sqlx::query!(
            "delete from sessions where rowid in (select rowid from sessions where expires_at <= ?1 limit ?2)",
            now,
            limit
        )
        .execute(&mut writing.connection)
        .await;
        writing.done(forgotten).await
    }
}
