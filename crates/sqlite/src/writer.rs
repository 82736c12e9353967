//! The one connection that writes.

use kalends_kernel::StoreError;
use sqlx::{
    ConnectOptions, Connection, SqliteConnection,
    sqlite::{SqliteConnectOptions, SqliteQueryResult},
};
use tokio::sync::{Mutex, MutexGuard};

use crate::error::store_error;

/// Lends the writing connection to one task at a time, in the order of requests.
///
/// A task that fails, panics or is dropped halfway does not hand its connection back. The connection is closed, which
/// rolls its transaction back, and the next task gets a new one.
pub(crate) struct Writer {
    options: SqliteConnectOptions,
    idle: Mutex<Option<SqliteConnection>>,
}

/// The writing connection while it is lent.
pub(crate) struct Writing<'a> {
    place: MutexGuard<'a, Option<SqliteConnection>>,
    pub(crate) connection: SqliteConnection,
}

impl Writer {
    pub(crate) fn new(options: SqliteConnectOptions, connection: SqliteConnection) -> Self {
        Self { options, idle: Mutex::new(Some(connection)) }
    }

    /// Waits until no other task of this process writes.
    pub(crate) async fn take(&self) -> Result<Writing<'_>, StoreError> {
        let mut place = self.idle.lock().await;
        let connection = match place.take() {
            Some(connection) => connection,
            None => self.options.connect().await.map_err(store_error)?,
        };
        Ok(Writing { place, connection })
    }
}

impl Writing<'_> {
    /// Hands the connection back. No transaction may be open.
    pub(crate) fn hand_back(self) {
        let Self { mut place, connection } = self;
        *place = Some(connection);
    }

    /// Ends the loan after a single statement, which was committed or left nothing behind, and returns how many rows
    /// it changed.
    pub(crate) async fn done(self, outcome: Result<SqliteQueryResult, sqlx::Error>) -> Result<u64, StoreError> {
        match outcome {
            Ok(done) => {
                self.hand_back();
                Ok(done.rows_affected())
            }
            Err(error) => {
                self.close().await;
                Err(store_error(error))
            }
        }
    }

    /// Closes the connection and waits for that, so that the file is unlocked afterwards.
    pub(crate) async fn close(self) {
        let Self { place, connection } = self;
        if let Err(error) = connection.close().await {
            tracing::debug!(%error, "the writing connection did not close cleanly");
        }
        drop(place);
    }
}
