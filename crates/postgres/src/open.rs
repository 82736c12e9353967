//! The connection pool and the migrations.

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

/// The number of the newest migration of this program.
pub fn newest_migration() -> i64 {
    MIGRATOR.iter().map(|migration| migration.version).max().unwrap_or_default()
}

/// The migrator's table of applied migrations.
const APPLIED: &str = "_sqlx_migrations";
/// How long a caller waits for a connection. Short, so that an unreachable server is reported soon.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(3);
/// The most prepared statements that a connection keeps. A statement is parsed again only if this many others have run
/// on the connection since.
const STATEMENTS: usize = 256;

/// A pool of connections to one database.
#[derive(Debug, Clone)]
pub struct Database {
    connections: WarmPool<Postgres>,
    options: Arc<PgConnectOptions>,
}

impl Database {
    /// Connects to `url` with at most `pool_size` connections. The first is opened at once, which shows that the
    /// database is reachable; the others are opened as needed.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if the server cannot be reached within three seconds, and [`StoreError::Failed`] if
    /// the URL is wrong or the server rejects the user or the database. Once the database is open, an unreachable
    /// server only makes single calls fail, and nothing needs to be opened again.
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

    /// Applies the missing migrations. If several nodes do so at once, they take turns.
    ///
    /// # Errors
    /// [`StoreError`] if the server is unreachable, a migration fails, or the database has migrations that this
    /// program does not know.
    pub async fn migrate(&self) -> Result<(), StoreError> {
        // The migrator's lock belongs to the session and stays if a migration fails, so the migrator gets a session
        // that ends with it.
        let mut connection = self.options.connect().await.map_err(store_error)?;
        let migrated = MIGRATOR.run(&mut connection).await.map_err(migrate_error);
        // The server cleans up after a failed migration even if this fails.
        let _ = connection.close().await;
        migrated
    }

    /// Whether the database lacks migrations that this program needs. Changes nothing.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
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

    /// Waits until all connections are returned, and closes them.
    pub async fn close(&self) {
        self.connections.close().await;
    }

    pub(crate) fn into_connections(self) -> WarmPool<Postgres> {
        self.connections
    }
}
