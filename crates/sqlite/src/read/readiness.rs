//! Whether the database answers and accepts writes.

use async_trait::async_trait;
use kalends_app::ports::Readiness;
use kalends_kernel::StoreError;

use super::count;
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

    async fn database_bytes(&self) -> Result<Option<u64>, StoreError> {
        let bytes = sqlx::query_scalar!(
            r#"select page_count * page_size as "bytes!: i64" from pragma_page_count(), pragma_page_size()"#
        );
        bytes.fetch_one(self.readers()).await.map(|bytes| Some(count(bytes))).map_err(store_error)
    }
}
