//! The tokens that were mailed to users.

use async_trait::async_trait;
use kalends_accounts::{TokenHash, TokenPurpose, UserToken, ports::UserTokens};
use kalends_kernel::{StoreError, UserId};
use kalends_time::Timestamp;

use crate::{SqliteStore, error::store_error, rows::row_id};

#[async_trait]
impl UserTokens for SqliteStore {
    async fn find_user_token(&self, purpose: TokenPurpose, token: TokenHash) -> Result<Option<UserToken>, StoreError> {
        let (hash, for_purpose) = (token.0.as_slice(), purpose.as_str());
        let found = sqlx::query!(
            "select user_id, expires_at from user_tokens where token_hash = ?1 and purpose = ?2",
            hash,
            for_purpose
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?;
        let read = |row: (Vec<u8>, i64)| {
            let user = UserId::from_uuid(row_id("user_tokens", "user_id", &row.0)?);
            Ok(UserToken { token, user, purpose, expires_at: Timestamp::from_micros(row.1) })
        };
        found.map(|row| read((row.user_id, row.expires_at))).transpose()
    }

    async fn forget_user_tokens(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let now = now.as_micros();
        let mut writing = self.database.writer.take().await?;
        let forgotten = sqlx::query!(
            "delete from user_tokens where rowid in (
                select rowid from user_tokens where expires_at <= ?1 limit ?2)",
            now,
            limit
        )
        .execute(&mut writing.connection)
        .await;
        writing.done(forgotten).await
    }
}
