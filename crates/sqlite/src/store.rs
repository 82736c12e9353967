//! The store: what its ports share, and its way to commit.

use std::sync::Arc;

use async_trait::async_trait;
use kalends_app::{
    ChangeSet, CommitQueue,
    ports::{Commit, CommitError, FieldCipher},
};
use kalends_kernel::StoreError;
use kalends_warm_pool::WarmPool;
use sqlx::{Connection as _, Sqlite, SqliteConnection};

use crate::{Database, commit::BatchWriter, error::store_error, reseal::Progress};

/// Implements the ports of the use cases on a SQLite database.
pub struct SqliteStore {
    pub(crate) database: Database,
    pub(crate) cipher: Arc<dyn FieldCipher>,
    queue: CommitQueue,
    pub(crate) resealed: Progress,
}

impl SqliteStore {
    /// Creates a store on `database` that seals and opens fields with `cipher`. Starts the task that commits, and so
    /// needs a running Tokio runtime. The task ends with the store.
    pub fn new(database: Database, cipher: Arc<dyn FieldCipher>) -> Self {
        let queue = CommitQueue::spawn(BatchWriter::new(Arc::clone(&database.writer), Arc::clone(&cipher)));
        Self { database, cipher, queue, resealed: Progress::default() }
    }

    pub(crate) fn readers(&self) -> &WarmPool<Sqlite> {
        &self.database.readers
    }

    /// Runs `read` in one transaction, so that all its statements see the same state.
    pub(crate) async fn snapshot<T>(
        &self,
        read: impl AsyncFnOnce(&mut SqliteConnection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut connection = self.readers().acquire().await.map_err(store_error)?;
        let mut snapshot = connection.begin().await.map_err(store_error)?;
        let outcome = read(&mut snapshot).await?;
        // Nobody needs to wait for the end of a transaction that only read. The connection's thread ends it at once, before
        // any later statement.
        drop(snapshot);
        connection.keep();
        Ok(outcome)
    }
}

#[async_trait]
impl Commit for SqliteStore {
    async fn commit(&self, changes: ChangeSet) -> Result<(), CommitError> {
        self.queue.commit(changes).await
    }
}
