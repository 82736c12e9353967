//! The table of data keys.

use async_trait::async_trait;
use kalends_app::ports::{DataKeyState, KeyTable, WrappedDataKey};
use kalends_kernel::{DataKeyId, StoreError};
use kalends_time::Timestamp;
use kalends_warm_pool::WarmPool;
use sqlx::{Connection as _, Postgres};

use crate::error::{failed, store_error};
use crate::retry::retried;
use crate::rows::{DataKeyRow, state_name};

/// The table of data keys in Postgres.
#[derive(Debug, Clone)]
pub struct PostgresKeyTable {
    connections: WarmPool<Postgres>,
}

/// The data key is not in the table.
#[derive(Debug, thiserror::Error)]
#[error("there is no data key {0}")]
struct NoSuchKey(DataKeyId);

impl PostgresKeyTable {
    pub(crate) const fn new(connections: WarmPool<Postgres>) -> Self {
        Self { connections }
    }

    async fn insert(&self, key: &WrappedDataKey) -> Result<bool, sqlx::Error> {
        sqlx::query!(
            "INSERT INTO data_keys (id, master, wrapped, state, created_at, resealed_at)
             VALUES ($1, $2, $3, $4, $5, $6)",
            key.id.uuid(),
            key.master,
            key.wrapped,
            state_name(key.state),
            key.created_at.as_micros(),
            key.resealed_at.map(Timestamp::as_micros),
        )
        .execute(&self.connections)
        .await?;
        Ok(true)
    }

    /// Serializable: if two nodes start on an empty table, one of them sees the other's key.
    async fn insert_if_empty(&self, key: &WrappedDataKey) -> Result<bool, sqlx::Error> {
        let mut connection = self.connections.acquire().await?;
        let mut transaction = connection.begin_with("BEGIN ISOLATION LEVEL SERIALIZABLE").await?;
        let inserted = sqlx::query!(
            "INSERT INTO data_keys (id, master, wrapped, state, created_at, resealed_at)
             SELECT $1, $2, $3, $4, $5, $6 WHERE NOT EXISTS (SELECT 1 FROM data_keys)",
            key.id.uuid(),
            key.master,
            key.wrapped,
            state_name(key.state),
            key.created_at.as_micros(),
            key.resealed_at.map(Timestamp::as_micros),
        )
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        connection.keep();
        Ok(inserted.rows_affected() > 0)
    }

    /// Updates every row, so that of two concurrent calls the later one sees the result of the earlier one.
    async fn make_writing(&self, key: DataKeyId) -> Result<bool, sqlx::Error> {
        let updated = sqlx::query!(
            "UPDATE data_keys SET
                 state = CASE WHEN id = $1 THEN $2 ELSE $3 END,
                 resealed_at = CASE WHEN id = $1 AND state = $3 THEN NULL ELSE resealed_at END
             WHERE EXISTS (SELECT 1 FROM data_keys WHERE id = $1)",
            key.uuid(),
            state_name(DataKeyState::Writing),
            state_name(DataKeyState::Reading),
        )
        .execute(&self.connections)
        .await?;
        Ok(updated.rows_affected() > 0)
    }
}

#[async_trait]
impl KeyTable for PostgresKeyTable {
    async fn data_keys(&self) -> Result<Vec<WrappedDataKey>, StoreError> {
        let rows = sqlx::query_as!(
            DataKeyRow,
            "SELECT id, master, wrapped, state, created_at, resealed_at FROM data_keys ORDER BY created_at, id",
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        rows.into_iter().map(DataKeyRow::into_domain).collect()
    }

    async fn add_data_key(&self, key: &WrappedDataKey, only_if_empty: bool) -> Result<bool, StoreError> {
        if only_if_empty {
            retried(|| self.insert_if_empty(key)).await.map_err(store_error)
        } else {
            self.insert(key).await.map_err(store_error)
        }
    }

    async fn write_with(&self, key: DataKeyId) -> Result<(), StoreError> {
        let known = retried(|| self.make_writing(key)).await.map_err(store_error)?;
        if known { Ok(()) } else { Err(failed(NoSuchKey(key))) }
    }

    async fn record_resealed(&self, key: DataKeyId, at: Timestamp) -> Result<bool, StoreError> {
        let update = sqlx::query!(
            "UPDATE data_keys SET resealed_at = $2 WHERE id = $1 AND state = $3",
            key.uuid(),
            at.as_micros(),
            state_name(DataKeyState::Writing),
        );
        let updated = update.execute(&self.connections).await.map_err(store_error)?;
        Ok(updated.rows_affected() > 0)
    }

    async fn rewrap(&self, key: DataKeyId, master: &str, wrapped: &str) -> Result<(), StoreError> {
        let update =
            sqlx::query!("UPDATE data_keys SET master = $2, wrapped = $3 WHERE id = $1", key.uuid(), master, wrapped);
        let updated = update.execute(&self.connections).await.map_err(store_error)?;
        if updated.rows_affected() > 0 { Ok(()) } else { Err(failed(NoSuchKey(key))) }
    }

    async fn remove_data_key(&self, key: DataKeyId) -> Result<(), StoreError> {
        let delete = sqlx::query!("DELETE FROM data_keys WHERE id = $1", key.uuid());
        delete.execute(&self.connections).await.map(|_| ()).map_err(store_error)
    }
}
