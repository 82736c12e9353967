//! Allowances: one row for each, with its count and the end of its window.

use async_trait::async_trait;
use kalends_accounts::{Allowance, Taken, ports::Allowances};
use kalends_kernel::StoreError;
use kalends_time::Timestamp;

use crate::{SqliteStore, apply::allowances::use_up, error::store_error};

#[async_trait]
impl Allowances for SqliteStore {
    async fn take(&self, allowance: &Allowance, now: Timestamp) -> Result<Taken, StoreError> {
        let mut writing = self.database.writer.take().await?;
        match use_up(&mut writing.connection, allowance, 1, now).await {
            Ok(taken) => {
                writing.hand_back();
                Ok(taken)
            }
            Err(error) => {
                writing.close().await;
                Err(store_error(error))
            }
        }
    }

    async fn give_back(&self, allowance: &Allowance, until: Timestamp) -> Result<(), StoreError> {
        let (scope, until) = (allowance.scope.as_slice(), until.as_micros());
        let mut writing = self.database.writer.take().await?;
        let given_back = sqlx::query!(
            "update allowances set state = state - 1 where scope = ?1 and expires_at = ?2 and state > 0",
            scope,
            until
        )
        .execute(&mut writing.connection)
        .await;
        writing.done(given_back).await.map(drop)
    }

    async fn forget_allowances(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let now = now.as_micros();
        let mut writing = self.database.writer.take().await?;
        let forgotten = sqlx::query!(
            "delete from allowances where rowid in (select rowid from allowances where expires_at <= ?1 limit ?2)",
            now,
            limit
        )
        .execute(&mut writing.connection)
        .await;
        writing.done(forgotten).await
    }
}
