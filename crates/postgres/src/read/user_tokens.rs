//! The tokens that were mailed to users.

use async_trait::async_trait;
use kalends_accounts::ports::UserTokens;
use kalends_accounts::{TokenHash, TokenPurpose, UserToken};
use kalends_kernel::{StoreError, UserId};
use kalends_time::Timestamp;

use crate::PostgresStore;
use crate::error::store_error;
use crate::retry::retried;

#[async_trait]
impl UserTokens for PostgresStore {
    async fn find_user_token(&self, purpose: TokenPurpose, token: TokenHash) -> Result<Option<UserToken>, StoreError> {
        let found = sqlx::query!(
            "SELECT user_id, expires_at FROM user_tokens WHERE token_hash = $1 AND purpose = $2",
            token.0.as_slice(),
            purpose.as_str(),
        );
        let found = found.fetch_optional(&self.connections).await.map_err(store_error)?;
        Ok(found.map(|row| UserToken {
            token,
            user: UserId::from_uuid(row.user_id),
            purpose,
            expires_at: Timestamp::from_micros(row.expires_at),
        }))
    }

    async fn forget_user_tokens(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let forgotten = retried(|| {
            sqlx::query!(
                "DELETE FROM user_tokens WHERE (user_id, purpose) IN (
                     SELECT user_id, purpose FROM user_tokens WHERE expires_at <= $1 LIMIT $2
                 )",
                now.as_micros(),
                i64::from(limit),
            )
            .execute(&self.connections)
        });
        Ok(forgotten.await.map_err(store_error)?.rows_affected())
    }
}
