//! The store: what its ports share, and its way to commit.

use std::sync::Arc;

use async_trait::async_trait;
use kalends_app::ChangeSet;
use kalends_app::ports::{Commit, CommitError, FieldCipher};
use kalends_rows::SealedChangeSet;
use kalends_warm_pool::WarmPool;
use sqlx::Postgres;
use tracing::Instrument as _;

use crate::Database;
use crate::commit::{Writers, commit_together};
use crate::error::failed;
use crate::reseal::Progress;

/// Implements the ports of the use cases on a Postgres database.
pub struct PostgresStore {
    pub(crate) connections: WarmPool<Postgres>,
    pub(crate) cipher: Arc<dyn FieldCipher>,
    writers: Writers,
    pub(crate) reseal: Progress,
}

impl PostgresStore {
    /// Creates a store on `database` that seals and opens fields with `cipher`.
    ///
    /// Starts the tasks that write batches, and so needs a running Tokio runtime. The tasks end after the store is
    /// dropped and the queues are empty.
    pub fn new(database: Database, cipher: Arc<dyn FieldCipher>) -> Self {
        let connections = database.into_connections();
        let writers = Writers::spawn(&connections, &cipher);
        Self { connections, cipher, writers, reseal: Progress::default() }
    }
}

#[async_trait]
impl Commit for PostgresStore {
    async fn commit(&self, changes: ChangeSet) -> Result<(), CommitError> {
        if changes.only_adds_events() {
            return self.writers.of(changes.org).commit(changes).await;
        }
        let (connections, cipher) = (self.connections.clone(), Arc::clone(&self.cipher));
        // Runs in a task of its own, so that a cancelled caller leaves no transaction unfinished.
        let committing = async move {
            let sealed = SealedChangeSet::seal(Arc::new(changes), &*cipher).map_err(failed)?;
            commit_together(&connections, &[sealed], &*cipher).await
        };
        let task = tokio::spawn(committing.instrument(tracing::error_span!("commit", change_sets = 1)));
        task.await.unwrap_or_else(|error| Err(CommitError::Store(failed(error))))
    }
}
