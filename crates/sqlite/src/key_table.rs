//! The table of data keys.

use std::sync::Arc;

use async_trait::async_trait;
use kalends_app::ports::{KeyTable, WrappedDataKey};
use kalends_kernel::{DataKeyId, StoreError};
use kalends_time::Timestamp;
use kalends_warm_pool::WarmPool;
use sqlx::Sqlite;

use crate::{
    error::{failed, store_error},
    rows::{DataKeyRow, state_name},
    writer::Writer,
};

/// The data keys of a database. Needs no cipher, since the cipher is made from these keys.
#[derive(Clone)]
pub struct SqliteKeyTable {
    writer: Arc<Writer>,
    readers: WarmPool<Sqlite>,
}

/// A data key that is not in the table.
#[derive(Debug, thiserror::Error)]
#[error("there is no data key {0}")]
struct NoSuchKey(DataKeyId);

impl SqliteKeyTable {
    pub(crate) const fn new(writer: Arc<Writer>, readers: WarmPool<Sqlite>) -> Self {
        Self { writer, readers }
    }
}

/// Runs one statement on the writing connection, and returns how many rows it changed.
macro_rules! write_one {
    ($writer:expr, $statement:expr) => {{
        let mut writing = $writer.take().await?;
        let outcome = $statement.execute(&mut writing.connection).await;
        writing.done(outcome).await
    }};
}

#[async_trait]
impl KeyTable for SqliteKeyTable {
    async fn data_keys(&self) -> Result<Vec<WrappedDataKey>, StoreError> {
        sqlx::query_as!(
            DataKeyRow,
            "select id, master, wrapped, state, created_at, resealed_at from data_keys order by created_at, id"
        )
        .fetch_all(&self.readers)
        .await
        .map_err(store_error)?
        .into_iter()
        .map(DataKeyRow::into_domain)
        .collect()
    }

    async fn add_data_key(&self, key: &WrappedDataKey, only_if_empty: bool) -> Result<bool, StoreError> {
        let (id, state, created_at) = (key.id.uuid(), state_name(key.state), key.created_at.as_micros());
        let resealed_at = key.resealed_at.map(Timestamp::as_micros);
        let added = write_one!(
            self.writer,
            sqlx::query!(
                "insert into data_keys (id, master, wrapped, state, created_at, resealed_at)
                 select ?1, ?2, ?3, ?4, ?5, ?6 where not ?7 or not exists (select 1 from data_keys)",
                id,
                key.master,
                key.wrapped,
                state,
                created_at,
                resealed_at,
                only_if_empty
            )
        )?;
        Ok(added == 1)
    }

    async fn write_with(&self, key: DataKeyId) -> Result<(), StoreError> {
        let id = key.uuid();
        let changed = write_one!(
            self.writer,
            sqlx::query!(
                "update data_keys set state = case id when ?1 then 'writing' else 'reading' end,
                    resealed_at = case when id = ?1 and state = 'reading' then null else resealed_at end
                 where exists (select 1 from data_keys where id = ?1)",
                id
            )
        )?;
        if changed == 0 { Err(failed(NoSuchKey(key))) } else { Ok(()) }
    }

    async fn record_resealed(&self, key: DataKeyId, at: Timestamp) -> Result<bool, StoreError> {
        let (id, at) = (key.uuid(), at.as_micros());
        let changed = write_one!(
            self.writer,
            sqlx::query!("update data_keys set resealed_at = ?2 where id = ?1 and state = 'writing'", id, at)
        )?;
        Ok(changed > 0)
    }

    async fn rewrap(&self, key: DataKeyId, master: &str, wrapped: &str) -> Result<(), StoreError> {
        let id = key.uuid();
        let changed = write_one!(
            self.writer,
            sqlx::query!("update data_keys set master = ?2, wrapped = ?3 where id = ?1", id, master, wrapped)
        )?;
        if changed == 0 { Err(failed(NoSuchKey(key))) } else { Ok(()) }
    }

    async fn remove_data_key(&self, key: DataKeyId) -> Result<(), StoreError> {
        let id = key.uuid();
        write_one!(self.writer, sqlx::query!("delete from data_keys where id = ?1", id))?;
        Ok(())
    }
}
