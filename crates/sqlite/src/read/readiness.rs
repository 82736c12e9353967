//! Whether the database answers and accepts writes.

use async_trait::async_trait;
use kalends_app::ports::Readiness;
use kalends_kernel::StoreError;

use crate::{SqliteStore, error::store_error};

#[async_trait]
impl Readiness for SqliteStore {
    async fn ready(&self) -> Result<(), StoreError> {
        // Reads a table, so that the file itself is accessed.
        sqlx::query_scalar!("select epoch from principals_epoch where one = 1")
            .fetch_one(self.readers())
            .await
            .map(|_| ())
            .map_err(store_error)
    }

    async fn writable(&self) -> Result<(), StoreError> {
        let mut writing = self.database.writer.take().await?;
        let written = sqlx::query!("update principals_epoch set epoch = epoch where one = 1")
            .execute(&mut writing.connection)
            .await;
        writing.done(written).await.map(|_| ())
    }
}
