//! The tokens that reset a user's password.

use async_trait::async_trait;
use kalends_accounts::{PasswordReset, TokenHash, ports::PasswordResets};
use kalends_kernel::{StoreError, UserId};
use kalends_time::Timestamp;

use crate::{SqliteStore, error::store_error, rows::row_id};

#[async_trait]
impl PasswordResets for SqliteStore {
    async fn find_reset(&self, token: TokenHash) -> Result<Option<PasswordReset>, StoreError> {
        let hash = token.0.as_slice();
        let found = sqlx::query!("select user_id, expires_at from password_resets where token_hash = ?1", hash)
            .fetch_optional(self.readers())
            .await
            .map_err(store_error)?;
        let read = |row: (Vec<u8>, i64)| {
            let user = UserId::from_uuid(row_id("password_resets", "user_id", &row.0)?);
            Ok(PasswordReset { token, user, expires_at: Timestamp::from_micros(row.1) })
        };
        found.map(|row| read((row.user_id, row.expires_at))).transpose()
    }

    async fn forget_resets(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let now = now.as_micros();
        let mut writing = self.database.writer.take().await?;
        let forgotten = sqlx::query!(
            "delete from password_resets where rowid in (
                select rowid from password_resets where expires_at <= ?1 limit ?2)",
            now,
            limit
        )
        .execute(&mut writing.connection)
        .await;
        writing.done(forgotten).await
    }
}
