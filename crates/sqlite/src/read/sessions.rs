//! Console sessions.

use async_trait::async_trait;
use kalends_accounts::{Session, ports::Sessions};
use kalends_kernel::{SessionId, StoreError};
use kalends_time::Timestamp;

use crate::{SqliteStore, error::store_error, rows::SessionRow};

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
