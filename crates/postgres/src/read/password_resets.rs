//! The tokens that reset a user's password.

use async_trait::async_trait;
use kalends_accounts::ports::PasswordResets;
use kalends_accounts::{PasswordReset, TokenHash};
use kalends_kernel::{StoreError, UserId};
use kalends_time::Timestamp;

use crate::PostgresStore;
use crate::error::store_error;
use crate::retry::retried;

#[async_trait]
impl PasswordResets for PostgresStore {
    async fn find_reset(&self, token: TokenHash) -> Result<Option<PasswordReset>, StoreError> {
        let found =
            sqlx::query!("SELECT user_id, expires_at FROM password_resets WHERE token_hash = $1", token.0.as_slice(),);
        let found = found.fetch_optional(&self.connections).await.map_err(store_error)?;
        Ok(found.map(|row| PasswordReset {
            token,
            user: UserId::from_uuid(row.user_id),
            expires_at: Timestamp::from_micros(row.expires_at),
        }))
    }

    async fn forget_resets(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let forgotten = retried(|| {
            sqlx::query!(
                "DELETE FROM password_resets WHERE user_id IN (
                     SELECT user_id FROM password_resets WHERE expires_at <= $1 LIMIT $2
                 )",
                now.as_micros(),
                i64::from(limit),
            )
            .execute(&self.connections)
        });
        Ok(forgotten.await.map_err(store_error)?.rows_affected())
    }
}
