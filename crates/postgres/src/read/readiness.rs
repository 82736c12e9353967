//! Whether the database answers and accepts writes.

use async_trait::async_trait;
use kalends_app::ports::Readiness;
use kalends_kernel::StoreError;

use crate::PostgresStore;
use crate::counts::count;
use crate::error::store_error;

#[async_trait]
impl Readiness for PostgresStore {
    async fn ready(&self) -> Result<(), StoreError> {
        let one = sqlx::query_scalar!(r#"SELECT 1 AS "one!""#);
        one.fetch_one(&self.connections).await.map(|_| ()).map_err(store_error)
    }

    async fn writable(&self) -> Result<(), StoreError> {
        let written = sqlx::query!("UPDATE principals_epoch SET epoch = epoch WHERE one = 1");
        written.execute(&self.connections).await.map(|_| ()).map_err(store_error)
    }

    async fn database_bytes(&self) -> Result<Option<u64>, StoreError> {
        let bytes = sqlx::query_scalar!(r#"SELECT pg_database_size(current_database()) AS "bytes!""#);
        bytes.fetch_one(&self.connections).await.map(|bytes| Some(count(bytes))).map_err(store_error)
    }
}
