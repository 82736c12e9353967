//! Finds the answers to earlier requests, and removes expired ones.

use async_trait::async_trait;
use kalends_app::StoredAnswer;
use kalends_app::ports::StoredAnswers;
use kalends_kernel::StoreError;
use kalends_time::Timestamp;

use crate::PostgresStore;
use crate::error::store_error;
use crate::retry::retried;
use crate::rows::AnswerRow;

#[async_trait]
impl StoredAnswers for PostgresStore {
    async fn find_answer(&self, scope: [u8; 32], now: Timestamp) -> Result<Option<StoredAnswer>, StoreError> {
        let row = sqlx::query_as!(
            AnswerRow,
            "SELECT fingerprint, status, resource_version, body, created_at, expires_at
             FROM idempotent_answers
             WHERE scope = $1 AND expires_at > $2",
            &scope,
            now.as_micros(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        row.map(|row| row.open(scope, &*self.cipher)).transpose()
    }

    async fn forget_answers(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        // A valid answer may have replaced an expired one in the meantime; it stays.
        let forgotten = retried(|| {
            sqlx::query!(
                "DELETE FROM idempotent_answers WHERE expires_at <= $1 AND scope IN (
                     SELECT scope FROM idempotent_answers WHERE expires_at <= $1 LIMIT $2
                 )",
                now.as_micros(),
                i64::from(limit),
            )
            .execute(&self.connections)
        });
        Ok(forgotten.await.map_err(store_error)?.rows_affected())
    }
}
