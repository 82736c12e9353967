//! When the operator last made a backup.

use async_trait::async_trait;
use kalends_app::ports::Backups;
use kalends_kernel::StoreError;
use kalends_time::Timestamp;

use crate::{SqliteStore, error::store_error};

#[async_trait]
impl Backups for SqliteStore {
    async fn record_backup(&self, at: Timestamp) -> Result<(), StoreError> {
        let at = at.as_micros();
        let mut writing = self.database.writer.take().await?;
        let recorded = sqlx::query!(
            "insert into backups (one, made_at) values (1, ?1)
             on conflict (one) do update set made_at = excluded.made_at",
            at
        )
        .execute(&mut writing.connection)
        .await;
        writing.done(recorded).await.map(|_| ())
    }

    async fn last_backup(&self) -> Result<Option<Timestamp>, StoreError> {
        let made_at = sqlx::query_scalar!("select made_at from backups where one = 1");
        let made_at = made_at.fetch_optional(self.readers()).await.map_err(store_error)?;
        Ok(made_at.map(Timestamp::from_micros))
    }
}
