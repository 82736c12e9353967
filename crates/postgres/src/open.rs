//! The pool of connections and the migrations.

use std::str::FromStr as _;
use std::sync::Arc;
use std::time::Duration;

use kalends_kernel::StoreError;
use kalends_warm_pool::WarmPool;
use sqlx::migrate::{Migrate as _, MigrateError, Migrator};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions as _, Connection as _, Postgres};

use crate::PostgresKeyTable;
use crate::error::{NO_SUCH_TABLE, code, migrate_error, store_error};

static MIGRATOR: Migrator = sqlx::migrate!("../../migrations/postgres");

/// Where the migrator keeps what it has applied.
const APPLIED: &str = "_sqlx_migrations";
/// How long anybody waits for a connection: a server that is away is reported soon.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(3);
/// More than this crate has statements, so that each connection parses each of them once.
const STATEMENTS: usize = 256;

/// A pool of connections to one database.
#[derive(Debug, Clone)]
pub struct Database {
    connections: WarmPool<Postgres>,
    options: Arc<PgConnectOptions>,
}

impl Database {
    /// Connects to `url` with at most `pool_size` connections. They are opened as they are needed, but
    /// for the first one, which shows that the database is there.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] where the server does not answer within three seconds, and
    /// [`StoreError::Failed`] where the address is wrong or the server turns us away. Once open, a
    /// server that is away makes single calls fail, and nothing needs to be opened again.
    pub async fn open(url: &str, pool_size: u32) -> Result<Self, StoreError> {
        let options = PgConnectOptions::from_str(url)
            .map_err(store_error)?
            .application_name("kalends")
            .statement_cache_capacity(STATEMENTS);
        let pool = PgPoolOptions::new()
            .max_connections(pool_size)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .connect_with(options)
            .await
            .map_err(store_error)?;
        let options = pool.connect_options();
        Ok(Self { connections: WarmPool::new(pool), options })
    }

    /// Applies the migrations that are missing. Several nodes may do so at once: one at a time works.
    ///
    /// # Errors
    /// [`StoreError`] where the server is away, a migration fails, or the database has migrations
    /// that this program does not know.
    pub async fn migrate(&self) -> Result<(), StoreError> {
        // The migrator's lock belongs to the session and stays when a migration fails: a session of its
        // own ends with it.
        let mut connection = self.options.connect().await.map_err(store_error)?;
        let migrated = MIGRATOR.run(&mut connection).await.map_err(migrate_error);
        // What a failed migration leaves behind, the server clears away either way.
        let _ = connection.close().await;
        migrated
    }

    /// Whether the database lacks migrations that this program needs. Changes nothing.
    ///
    /// # Errors
    /// [`StoreError`] where the database cannot be asked.
    pub async fn migrations_pending(&self) -> Result<bool, StoreError> {
        let mut connection = self.connections.acquire().await.map_err(store_error)?;
        let applied = match connection.list_applied_migrations(APPLIED).await {
            Ok(applied) => applied,
            Err(MigrateError::Execute(error)) if code(&error).as_deref() == Some(NO_SUCH_TABLE) => return Ok(true),
            Err(error) => return Err(migrate_error(error)),
        };
        connection.keep();
        Ok(MIGRATOR.iter().any(|needed| applied.iter().all(|applied| applied.version != needed.version)))
    }

    /// The table of data keys, for the vault.
    pub fn key_table(&self) -> PostgresKeyTable {
        PostgresKeyTable::new(self.connections.clone())
    }

    /// Waits until all connections are given back, and closes them.
    pub async fn close(&self) {
        self.connections.close().await;
    }

    pub(crate) fn into_connections(self) -> WarmPool<Postgres> {
        self.connections
    }
}
