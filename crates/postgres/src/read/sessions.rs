//! Reads console sessions, and removes expired ones.

use async_trait::async_trait;
use kalends_accounts::ports::Sessions;
use kalends_accounts::{Session, SignedIn};
use kalends_kernel::{SessionId, StoreError, UserId};
use kalends_time::Timestamp;

use crate::PostgresStore;
use crate::error::store_error;
use crate::retry::retried;
use crate::rows::{SessionRow, SignedInRow};

#[async_trait]
impl Sessions for PostgresStore {
    async fn find_session(&self, session: SessionId) -> Result<Option<Session>, StoreError> {
        let row = sqlx::query_as!(
            SessionRow,
            "SELECT id, user_id, org_id, created_at, expires_at, revoked_at FROM sessions WHERE id = $1",
            session.uuid(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        row.map(SessionRow::into_domain).transpose()
    }

    async fn find_signed_in(&self, session: SessionId, user: UserId) -> Result<Option<SignedIn>, StoreError> {
        let row = sqlx::query_as!(
            SignedInRow,
            r#"SELECT s.id AS "session_id!", s.user_id AS "session_user_id!", s.org_id AS "session_org_id?",
                 s.created_at AS "session_created_at!", s.expires_at AS "expires_at!", s.revoked_at AS "revoked_at?",
                 u.id AS "user_id!", u.email AS "user_email!", u.email_verified_at AS "email_verified_at?",
                 u.holds_address AS "holds_address!", u.name AS "user_name!", u.password_hash AS "password_hash?",
                 u.version AS "user_version!", u.created_at AS "user_created_at!", u.updated_at AS "updated_at!",
                 m.role AS "role!", o.id AS "id!", o.name AS "name!", o.plan AS "plan!",
                 o.limit_overrides AS "limit_overrides?", o.test AS "test!", o.email AS "email?",
                 o.verified_at AS "verified_at?", o.waitlisted_at AS "waitlisted_at?",
                 o.signup_source AS "signup_source!", o.accepted_terms AS "accepted_terms?",
                 o.accepted_at AS "accepted_at?", o.reply_to AS "reply_to?", o.version AS "version!",
                 o.created_at AS "created_at!"
             FROM sessions s
                 JOIN users u ON u.id = s.user_id
                 JOIN memberships m ON m.user_id = $2 AND (s.org_id IS NULL OR m.org_id = s.org_id)
                 JOIN organizations o ON o.id = m.org_id
             WHERE s.id = $1 AND s.user_id = $2
             ORDER BY m.since, m.org_id
             LIMIT 1"#,
            session.uuid(),
            user.uuid(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        row.map(SignedInRow::into_domain).transpose()
    }

    async fn forget_sessions(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let forgotten = retried(|| {
            sqlx::query!(
                "DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE expires_at <= $1 LIMIT $2)",
                now.as_micros(),
                i64::from(limit),
            )
            .execute(&self.connections)
        });
        Ok(forgotten.await.map_err(store_error)?.rows_affected())
    }
}
