//! Reads console sessions, and removes expired ones.

use async_trait::async_trait;
use kalends_accounts::Session;
use kalends_accounts::ports::Sessions;
use kalends_kernel::{SessionId, StoreError};
use kalends_time::Timestamp;

use crate::PostgresStore;
use crate::error::store_error;
use crate::retry::retried;
use crate::rows::SessionRow;

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
