//! Opens the file: its mode, the version of SQLite, and its schema.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use kalends_kernel::StoreError;
use kalends_warm_pool::WarmPool;
use sqlx::{
    AssertSqlSafe, ConnectOptions, Connection, Sqlite, SqliteConnection,
    migrate::{MigrateError, Migrator},
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};

use crate::{
    error::{failed, is_busy, store_error},
    key_table::SqliteKeyTable,
    writer::Writer,
};

/// The schema's migrations, in order.
static MIGRATIONS: Migrator = sqlx::migrate!("../../migrations/sqlite");

/// The first SQLite without the race that can corrupt the database when the write-ahead log is reset
/// (<https://sqlite.org/wal.html>).
const SQLITE_SINCE: (u32, u32, u32) = (3, 51, 3);
/// How long a statement waits for another process that writes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);
/// How long the first connection waits before it retries.
const BUSY_PAUSE: Duration = Duration::from_millis(20);
/// How long closing waits for other processes before it gives up emptying the log.
const LOG_WAIT: Duration = Duration::from_secs(1);
/// How long a reader waits for a connection of the pool.
const READER_TIMEOUT: Duration = Duration::from_secs(10);
/// The size of the log, in pages, at which it is checkpointed into the file (16 MiB). A page that changes often is
/// then copied once for many changes.
const LOG_PAGES: &str = "4000";
/// How large the log file may stay on disk after a checkpoint.
const LOG_BYTES: &str = "67108864";
/// The page caches of the writer and of each reader, in KiB (negative, as the pragma requires).
const WRITER_CACHE: &str = "-4096";
const READER_CACHE: &str = "-8192";

/// The number of the newest migration of this program.
pub fn newest_migration() -> i64 {
    MIGRATIONS.iter().map(|migration| migration.version).max().unwrap_or_default()
}

/// Options for opening a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenOptions {
    /// How many connections can read at the same time.
    pub readers: u32,
    /// The maximum number of pages of 4 KiB that the file may have. With `None`, only the disk limits it.
    pub max_pages: Option<u32>,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self { readers: 4, max_pages: None }
    }
}

/// This version of the library can damage the database.
#[derive(Debug, thiserror::Error)]
#[error(
    "SQLite {got} can corrupt a database that several processes use; {major}.{minor}.{patch} or newer is needed",
    major = SQLITE_SINCE.0, minor = SQLITE_SINCE.1, patch = SQLITE_SINCE.2
)]
struct SqliteTooOld {
    got: String,
}

/// The file cannot be created or opened.
#[derive(Debug, thiserror::Error)]
#[error("cannot open the database {path}", path = .path.display())]
struct Unopened {
    path: PathBuf,
    #[source]
    source: Box<dyn std::error::Error + Send + Sync>,
}

/// An open database, with one connection that writes and several that read. Clones share the connections.
#[derive(Clone)]
pub struct Database {
    pub(crate) writer: Arc<Writer>,
    pub(crate) readers: WarmPool<Sqlite>,
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database").finish_non_exhaustive()
    }
}

impl Database {
    /// Opens the file at `path`. If it does not exist, it is created readable only by its owner.
    ///
    /// # Errors
    /// [`StoreError::Failed`] if the file cannot be created or opened, or if SQLite is older than 3.51.3, which can
    /// corrupt a database.
    pub async fn open(path: &Path, options: OpenOptions) -> Result<Self, StoreError> {
        let unopened = |source| failed(Unopened { path: path.to_owned(), source });
        make_private(path).await.map_err(|error| unopened(Box::new(error)))?;

        let mut writing = SqliteConnectOptions::new()
            .filename(path)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(BUSY_TIMEOUT)
            .pragma("cache_size", WRITER_CACHE)
            .pragma("journal_size_limit", LOG_BYTES)
            .pragma("wal_autocheckpoint", LOG_PAGES)
            .pragma("temp_store", "memory")
            // Deleted content is overwritten with zeros.
            .pragma("secure_delete", "on")
            .thread_name(|number| format!("sqlite-write-{number}"));
        if let Some(pages) = options.max_pages {
            writing = writing.pragma("max_page_count", pages.to_string());
        }
        let mut connection = first_connection(&writing).await.map_err(|error| unopened(Box::new(error)))?;
        check_library(&mut connection).await?;

        let reading = SqliteConnectOptions::new()
            .filename(path)
            .read_only(true)
            .busy_timeout(BUSY_TIMEOUT)
            .pragma("cache_size", READER_CACHE)
            .thread_name(|number| format!("sqlite-read-{number}"));
        let readers = SqlitePoolOptions::new()
            .max_connections(options.readers.max(1))
            .acquire_timeout(READER_TIMEOUT)
            .idle_timeout(None)
            .max_lifetime(None)
            .test_before_acquire(false)
            .connect_lazy_with(reading);
        let readers = WarmPool::new(readers);
        Ok(Self { writer: Arc::new(Writer::new(writing, connection)), readers })
    }

    /// Applies the missing migrations in one transaction. If several processes start together, one migrates and the
    /// others wait for it.
    ///
    /// # Errors
    /// [`StoreError`] if a migration fails, or if the database has migrations that this program does not know. In
    /// both cases nothing is changed.
    pub async fn migrate(&self) -> Result<(), StoreError> {
        let mut writing = self.writer.take().await?;
        match run_migrations(&mut writing.connection).await {
            Ok(()) => {
                writing.hand_back();
                Ok(())
            }
            Err(error) => {
                writing.close().await;
                Err(failed(error))
            }
        }
    }

    /// Whether the database lacks migrations that this program needs. Changes nothing.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn migrations_pending(&self) -> Result<bool, StoreError> {
        let applied = self.applied_migrations().await.map_err(store_error)?;
        Ok(MIGRATIONS.iter().any(|needed| !applied.contains(&needed.version)))
    }

    /// The table of data keys.
    pub fn key_table(&self) -> SqliteKeyTable {
        SqliteKeyTable::new(Arc::clone(&self.writer), self.readers.clone())
    }

    /// Checkpoints the log and empties it, since it may hold deleted content; then closes all connections.
    /// Change-sets that are still queued in a store on this database open a new connection.
    pub async fn close(&self) {
        self.readers.close().await;
        if let Ok(mut writing) = self.writer.take().await {
            if let Err(error) = empty_log(&mut writing.connection).await {
                tracing::debug!(%error, "the write-ahead log was not emptied");
            }
            writing.close().await;
        }
    }

    async fn applied_migrations(&self) -> Result<Vec<i64>, sqlx::Error> {
        // The table belongs to the driver, so these statements are not checked against the schema.
        let kept: bool =
            sqlx::query_scalar("select exists (select 1 from sqlite_schema where name = '_sqlx_migrations')")
                .fetch_one(&self.readers)
                .await?;
        if !kept {
            return Ok(Vec::new());
        }
        sqlx::query_scalar("select version from _sqlx_migrations where success").fetch_all(&self.readers).await
    }
}

async fn run_migrations(connection: &mut SqliteConnection) -> Result<(), MigrateError> {
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    MIGRATIONS.run_direct(None, &mut *transaction, false).await?;
    transaction.commit().await?;
    Ok(())
}

/// Checkpoints the log into the file and empties it. If another process keeps reading or writing, the log is left to
/// that process.
async fn empty_log(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let wait = format!("pragma busy_timeout = {}", LOG_WAIT.as_millis());
    sqlx::query(AssertSqlSafe(wait)).execute(&mut *connection).await?;
    sqlx::query("pragma wal_checkpoint(truncate)").execute(connection).await.map(drop)
}

/// Connects, and retries while another process switches the same new file to write-ahead logging. SQLite answers
/// `SQLITE_BUSY` at once in that case, whatever the busy timeout.
async fn first_connection(options: &SqliteConnectOptions) -> Result<SqliteConnection, sqlx::Error> {
    let started = tokio::time::Instant::now();
    loop {
        match options.connect().await {
            Err(error) if is_busy(&error) && started.elapsed() < BUSY_TIMEOUT => {
                tokio::time::sleep(BUSY_PAUSE).await;
            }
            outcome => return outcome,
        }
    }
}

/// Creates an empty file that only its owner may read. SQLite gives its log the same mode.
async fn make_private(path: &Path) -> std::io::Result<()> {
    let mut options = tokio::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    options.mode(0o600);
    match options.open(path).await {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

async fn check_library(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    let got = sqlx::query_scalar!(r#"select sqlite_version() as "version!: String""#)
        .fetch_one(connection)
        .await
        .map_err(store_error)?;
    if is_recent_enough(&got) { Ok(()) } else { Err(failed(SqliteTooOld { got })) }
}

fn is_recent_enough(version: &str) -> bool {
    let mut parts = version.split('.').map(|part| part.parse::<u32>().ok());
    let mut next = || parts.next().flatten();
    match (next(), next(), next()) {
        (Some(major), Some(minor), Some(patch)) => (major, minor, patch) >= SQLITE_SINCE,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_recent_enough;

    #[test]
    fn libraries_with_the_reset_race_are_refused() {
        for (version, accepted) in
            [("3.51.2", false), ("3.9.99", false), ("3.51.3", true), ("3.52.0", true), ("4.0.0", true), ("?", false)]
        {
            assert_eq!(is_recent_enough(version), accepted, "{version}");
        }
    }
}
