//! Answers to earlier requests.

use async_trait::async_trait;
use kalends_app::{StoredAnswer, ports::StoredAnswers};
use kalends_kernel::StoreError;
use kalends_time::Timestamp;

use crate::{SqliteStore, error::store_error, rows::AnswerRow};

#[async_trait]
impl StoredAnswers for SqliteStore {
    async fn find_answer(&self, scope: [u8; 32], now: Timestamp) -> Result<Option<StoredAnswer>, StoreError> {
        let (key, now) = (scope.as_slice(), now.as_micros());
        sqlx::query_as!(
            AnswerRow,
            "select fingerprint, status, resource_version, body, created_at, expires_at
             from idempotent_answers where scope = ?1 and expires_at > ?2",
            key,
            now
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?
        .map(|row| row.open(scope, self.cipher.as_ref()))
        .transpose()
    }

    async fn forget_answers(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let now = now.as_micros();
        let mut writing = self.database.writer.take().await?;
        let forgotten = sqlx::query!(
            "delete from idempotent_answers where rowid in (
                select rowid from idempotent_answers where expires_at <= ?1 limit ?2)",
            now,
            limit
        )
        .execute(&mut writing.connection)
        .await;
        writing.done(forgotten).await
    }
}
