//! Opening the file: its mode, its version of SQLite, its schema.

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

/// The schema, version by version.
static MIGRATIONS: Migrator = sqlx::migrate!("../../migrations/sqlite");

/// The first SQLite that does not lose the write-ahead log's reset to a race
/// (<https://sqlite.org/wal.html>).
const SQLITE_SINCE: (u32, u32, u32) = (3, 51, 3);
/// How long a statement waits for another process that writes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);
/// How long the first connection waits before it tries again.
const BUSY_PAUSE: Duration = Duration::from_millis(20);
/// How long closing waits for other processes, to empty the log.
const LOG_WAIT: Duration = Duration::from_secs(1);
/// How long a reader waits for a connection of the pool.
const READER_TIMEOUT: Duration = Duration::from_secs(10);
/// At how many pages the log is carried over into the file (16 MiB): a page that changes often is
/// then carried over once for many changes.
const LOG_PAGES: &str = "4000";
/// How large the log may stay on disk once it has been carried over into the file.
const LOG_BYTES: &str = "67108864";
/// The page cache of the writer and of a reader, in KiB (negative, as the pragma wants it).
const WRITER_CACHE: &str = "-4096";
const READER_CACHE: &str = "-8192";

/// How a database is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenOptions {
    /// How many connections read at the same time.
    pub readers: u32,
    /// The most pages of 4 KiB that the file may have; `None` leaves that to the disk.
    pub max_pages: Option<u32>,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self { readers: 4, max_pages: None }
    }
}

/// The library would damage the database.
#[derive(Debug, thiserror::Error)]
#[error(
    "SQLite {got} can corrupt a database that several processes use; {major}.{minor}.{patch} or newer is needed",
    major = SQLITE_SINCE.0, minor = SQLITE_SINCE.1, patch = SQLITE_SINCE.2
)]
struct SqliteTooOld {
    got: String,
}

/// The file cannot be made or opened.
#[derive(Debug, thiserror::Error)]
#[error("cannot open the database {path}", path = .path.display())]
struct Unopened {
    path: PathBuf,
    #[source]
    source: Box<dyn std::error::Error + Send + Sync>,
}

/// An open database: one connection that writes, several that read. Clones share them.
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
    /// Opens the file at `path`, which is made, readable for its owner only, where there is none.
    ///
    /// # Errors
    /// [`StoreError::Failed`] where the file cannot be made or opened, or where SQLite is older than
    /// 3.51.3, which can corrupt a database.
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
            // What is deleted is overwritten with zeros.
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

    /// Applies the migrations that are missing, in one transaction: of several processes that start
    /// together one migrates and the others wait for it.
    ///
    /// # Errors
    /// [`StoreError`] where a migration fails, or the database has migrations that this program does
    /// not know. Nothing was changed then.
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
    /// [`StoreError`] where the database cannot be asked.
    pub async fn migrations_pending(&self) -> Result<bool, StoreError> {
        let applied = self.applied_migrations().await.map_err(store_error)?;
        Ok(MIGRATIONS.iter().any(|needed| !applied.contains(&needed.version)))
    }

    /// The table of data keys.
    pub fn key_table(&self) -> SqliteKeyTable {
        SqliteKeyTable::new(self.clone())
    }

    /// Closes all connections after the log was carried over into the file and emptied: it may hold what was
    /// deleted since. Queued change-sets of a store on this database open a new connection.
    pub async fn close(&self) {
        self.readers.close().await;
        if let Ok(mut writing) = self.writer.take().await {
            if let Err(error) = empty_log(&mut writing.connection).await {
                tracing::debug!(%error, "the log was not emptied");
            }
            writing.close().await;
        }
    }

    async fn applied_migrations(&self) -> Result<Vec<i64>, sqlx::Error> {
        // The table belongs to the driver, so the statements are not checked against the schema.
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

/// Carries the log over into the file and empties it, if no other process reads or writes for longer than a moment: then
/// the log stays for that process.
async fn empty_log(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let wait = format!("pragma busy_timeout = {}", LOG_WAIT.as_millis());
    sqlx::query(AssertSqlSafe(wait)).execute(&mut *connection).await?;
    sqlx::query("pragma wal_checkpoint(truncate)").execute(connection).await.map(drop)
}

/// Connects, and waits its turn where another process turns the same new file to its log at this
/// moment: SQLite answers that with `SQLITE_BUSY` at once, whatever the busy timeout.
async fn first_connection(options: &SqliteConnectOptions) -> Result<SqliteConnection, sqlx::Error> {
    let asked = tokio::time::Instant::now();
    loop {
        match options.connect().await {
            Err(error) if is_busy(&error) && asked.elapsed() < BUSY_TIMEOUT => {
                tokio::time::sleep(BUSY_PAUSE).await;
            }
            outcome => return outcome,
        }
    }
}

/// Makes an empty file that only its owner may read. SQLite gives its log the same mode.
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
