//! When the operator last made a backup.

use async_trait::async_trait;
use kalends_app::ports::Backups;
use kalends_kernel::StoreError;
use kalends_time::Timestamp;

use crate::PostgresStore;
use crate::error::store_error;

#[async_trait]
impl Backups for PostgresStore {
    async fn record_backup(&self, at: Timestamp) -> Result<(), StoreError> {
        let recorded = sqlx::query!(
            "INSERT INTO backups (one, made_at) VALUES (1, $1)
             ON CONFLICT (one) DO UPDATE SET made_at = excluded.made_at",
            at.as_micros(),
        );
        recorded.execute(&self.connections).await.map(|_| ()).map_err(store_error)
    }

    async fn last_backup(&self) -> Result<Option<Timestamp>, StoreError> {
        let made_at = sqlx::query_scalar!("SELECT made_at FROM backups WHERE one = 1");
        let made_at = made_at.fetch_optional(&self.connections).await.map_err(store_error)?;
        Ok(made_at.map(Timestamp::from_micros))
    }
}
