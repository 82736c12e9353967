//! Allowances: one row for each, with its count and the end of its window.

use async_trait::async_trait;
use kalends_accounts::ports::Allowances;
use kalends_accounts::{Allowance, Taken};
use kalends_kernel::StoreError;
use kalends_time::Timestamp;

use crate::PostgresStore;
use crate::apply::allowances::use_up;
use crate::error::store_error;
use crate::retry::retried;

#[async_trait]
impl Allowances for PostgresStore {
    async fn take(&self, allowance: &Allowance, now: Timestamp) -> Result<Taken, StoreError> {
        let taken = retried(|| async {
            let mut connection = self.connections.acquire().await?;
            let taken = use_up(&mut connection, allowance, 1, now).await?;
            connection.keep();
            Ok(taken)
        });
        taken.await.map_err(store_error)
    }

    async fn give_back(&self, allowance: &Allowance, until: Timestamp) -> Result<(), StoreError> {
        let scope = allowance.scope.as_slice();
        let given_back = retried(|| {
            sqlx::query!(
                "UPDATE allowances SET state = state - 1 WHERE scope = $1 AND expires_at = $2 AND state > 0",
                scope,
                until.as_micros(),
            )
            .execute(&self.connections)
        });
        given_back.await.map(drop).map_err(store_error)
    }

    async fn forget_allowances(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let forgotten = retried(|| {
            sqlx::query!(
                "DELETE FROM allowances WHERE expires_at <= $1 AND scope IN (
                     SELECT scope FROM allowances WHERE expires_at <= $1 LIMIT $2
                 )",
                now.as_micros(),
                i64::from(limit),
            )
            .execute(&self.connections)
        });
        Ok(forgotten.await.map_err(store_error)?.rows_affected())
    }
}
