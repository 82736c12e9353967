//! The database of this process: SQLite or Postgres.

use std::sync::Arc;

use anyhow::Context;
use kalends_app::ports::{FieldCipher, KeyTable, Reseal, Store};
use kalends_kernel::StoreError;
use kalends_postgres::PostgresStore;
use kalends_sqlite::SqliteStore;
use secrecy::ExposeSecret;

use crate::{
    config::{Config, DatabaseUrl},
    data_dir::DataDir,
};

/// An open database.
#[derive(Clone)]
pub(crate) enum Database {
    Sqlite(kalends_sqlite::Database),
    Postgres(kalends_postgres::Database),
}

impl Database {
    /// Opens the configured database. The schema is left as it is.
    pub(crate) async fn open(config: &Config) -> anyhow::Result<Self> {
        match &config.database {
            DatabaseUrl::Sqlite(path) => {
                if path.starts_with(&config.data_dir) {
                    DataDir::make(&config.data_dir)?;
                }
                let options = kalends_sqlite::OpenOptions {
                    readers: config.database_connections,
                    ..kalends_sqlite::OpenOptions::default()
                };
                Ok(Self::Sqlite(kalends_sqlite::Database::open(path, options).await?))
            }
            DatabaseUrl::Postgres(url) => {
                kalends_postgres::Database::open(url.expose_secret(), config.database_connections)
                    .await
                    .map(Self::Postgres)
                    .context("cannot open the Postgres database of KALENDS_DATABASE_URL")
            }
        }
    }

    /// Opens the configured database and ensures that its schema is current.
    pub(crate) async fn open_migrated(config: &Config) -> anyhow::Result<Self> {
        let database = Self::open(config).await?;
        if config.migrate {
            database.migrate().await?;
        } else if database.migrations_pending().await? {
            anyhow::bail!(
                "the database lacks migrations, and KALENDS_MIGRATE is false: run `kalends migrate`, then start the server again"
            );
        }
        Ok(database)
    }

    /// Applies the missing migrations.
    pub(crate) async fn migrate(&self) -> anyhow::Result<()> {
        match self {
            Self::Sqlite(database) => database.migrate().await,
            Self::Postgres(database) => database.migrate().await,
        }
        .context("cannot migrate the database")
    }

    async fn migrations_pending(&self) -> Result<bool, StoreError> {
        match self {
            Self::Sqlite(database) => database.migrations_pending().await,
            Self::Postgres(database) => database.migrations_pending().await,
        }
    }

    /// The name of the kind of database.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "SQLite",
            Self::Postgres(_) => "Postgres",
        }
    }

    /// The number of the newest migration of this program.
    pub(crate) fn schema(&self) -> i64 {
        match self {
            Self::Sqlite(_) => kalends_sqlite::newest_migration(),
            Self::Postgres(_) => kalends_postgres::newest_migration(),
        }
    }

    /// The table of data keys.
    pub(crate) fn key_table(&self) -> Arc<dyn KeyTable> {
        match self {
            Self::Sqlite(database) => Arc::new(database.key_table()),
            Self::Postgres(database) => Arc::new(database.key_table()),
        }
    }

    /// The store, which starts its writer.
    pub(crate) fn store(&self, cipher: Arc<dyn FieldCipher>) -> Arc<dyn Store> {
        match self {
            Self::Sqlite(database) => Arc::new(SqliteStore::new(database.clone(), cipher)),
            Self::Postgres(database) => Arc::new(PostgresStore::new(database.clone(), cipher)),
        }
    }

    /// Makes this process the one that serves. SQLite has only one server, so the claims of the previous one are
    /// released.
    pub(crate) async fn take_over(&self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(database) => database.release_claims().await,
            Self::Postgres(_) => Ok(()),
        }
    }

    /// The port that seals stored fields again, for a rotation.
    pub(crate) fn resealer(&self, cipher: Arc<dyn FieldCipher>) -> Arc<dyn Reseal> {
        match self {
            Self::Sqlite(database) => Arc::new(SqliteStore::new(database.clone(), cipher)),
            Self::Postgres(database) => Arc::new(PostgresStore::new(database.clone(), cipher)),
        }
    }

    /// Closes the connections. On SQLite this also checkpoints the write-ahead log.
    pub(crate) async fn close(&self) {
        match self {
            Self::Sqlite(database) => database.close().await,
            Self::Postgres(database) => database.close().await,
        }
    }
}
