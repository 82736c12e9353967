//! The databases of a campaign: a file in a temporary directory, or a database on the given Postgres server.

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context as _, Result};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, PgConnection};
use tempfile::TempDir;

/// The kind of database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Sqlite,
    Postgres,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "Postgres",
        })
    }
}

/// A directory for a server's data and, on Postgres, a database. Both are deleted with it.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) kind: Kind,
    directory: TempDir,
    database: Option<PostgresDatabase>,
}

#[derive(Debug)]
struct PostgresDatabase {
    administration: String,
    name: String,
    url: String,
}

/// The folder of a server's data, within its directory.
const DATA: &str = "data";

/// Keys for Postgres, on which they are not generated. They protect nothing here.
pub(crate) const MASTER_KEY: &str = "a2FsZW5kcy1iZW5jaC1tYXN0ZXIta2V5LTMyLWJ5dGU=";
const SESSION_KEY: &str = "a2FsZW5kcy1iZW5jaC1zZXNzaW9uLWtleS0zMi1ieXQ=";

impl Place {
    /// A new, empty place.
    pub(crate) async fn new(kind: Kind, postgres: Option<&str>) -> Result<Self> {
        // The directory is next to this program, because the usual directory for temporary files may be in memory,
        // where commits are free.
        let here = std::env::current_exe()?;
        let parent = here.parent().context("this program has no parent directory")?;
        let directory = tempfile::Builder::new().prefix("kalends-bench-").tempdir_in(parent)?;
        let database = match kind {
            Kind::Sqlite => None,
            Kind::Postgres => {
                let url = postgres.context("no Postgres server: set KALENDS_TEST_POSTGRES, or use cargo xtask")?;
                Some(PostgresDatabase::create(url).await?)
            }
        };
        Ok(Self { kind, directory, database })
    }

    /// The directory for the server's data.
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The database's URL, if it is not the server's default.
    pub(crate) fn url(&self) -> Option<&str> {
        self.database.as_ref().map(|database| database.url.as_str())
    }

    /// The complete configuration of a server at this place.
    pub(crate) fn environment(&self) -> Vec<(&'static str, String)> {
        let mut environment = vec![
            ("KALENDS_LISTEN", "127.0.0.1:0".to_owned()),
            ("KALENDS_DATA_DIR", self.directory().join(DATA).display().to_string()),
            ("KALENDS_IP_LIMITS", "off".to_owned()),
        ];
        if let Some(url) = self.url() {
            environment.push(("KALENDS_DATABASE_URL", url.to_owned()));
            environment.push(("KALENDS_MASTER_KEY", MASTER_KEY.to_owned()));
            environment.push(("KALENDS_SESSION_KEY", SESSION_KEY.to_owned()));
        }
        environment
    }

    /// The size of the data in bytes: the whole folder on SQLite, the database on Postgres.
    pub(crate) async fn disk(&self) -> Result<u64> {
        match self.url() {
            None => folder_bytes(&self.directory().join(DATA)),
            Some(url) => {
                let mut database = PgConnection::connect(url).await?;
                let bytes: i64 =
                    sqlx::query_scalar("SELECT pg_database_size(current_database())").fetch_one(&mut database).await?;
                database.close().await?;
                Ok(u64::try_from(bytes)?)
            }
        }
    }

    /// The number of rows of a table.
    pub(crate) async fn rows(&self, table: &'static str) -> Result<u64> {
        let statement = AssertSqlSafe(format!("SELECT count(*) FROM {table}"));
        let rows: i64 = match self.url() {
            None => {
                let file = self.directory().join(DATA).join("kalends.db");
                let mut database = SqliteConnectOptions::new().filename(file).read_only(true).connect().await?;
                let rows = sqlx::query_scalar(statement).fetch_one(&mut database).await?;
                database.close().await?;
                rows
            }
            Some(url) => {
                let mut database = PgConnection::connect(url).await?;
                let rows = sqlx::query_scalar(statement).fetch_one(&mut database).await?;
                database.close().await?;
                rows
            }
        };
        Ok(u64::try_from(rows)?)
    }

    /// Deletes everything.
    pub(crate) async fn remove(self) -> Result<()> {
        if let Some(database) = &self.database {
            database.remove().await?;
        }
        self.directory.close().context("cannot remove the directory of the data")
    }

    /// Keeps everything for the inspection of a failure, and returns where it is.
    pub(crate) fn leave(self) -> String {
        let directory = self.directory.keep();
        match self.database {
            Some(database) => format!("{} and the database {}", directory.display(), database.name),
            None => directory.display().to_string(),
        }
    }
}

impl PostgresDatabase {
    async fn create(administration: &str) -> Result<Self> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let name = format!("kalends_bench_{}_{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let url = with_database(administration, &name);
        let database = Self { administration: administration.to_owned(), name, url };
        database.remove().await?;
        database.administer(&format!("CREATE DATABASE {}", database.name)).await?;
        Ok(database)
    }

    async fn remove(&self) -> Result<()> {
        self.administer(&format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name)).await
    }

    async fn administer(&self, statement: &str) -> Result<()> {
        let mut connection = PgConnection::connect(&self.administration).await.context("cannot reach Postgres")?;
        // The name above consists of letters, digits and underscores.
        sqlx::query(AssertSqlSafe(statement)).execute(&mut connection).await?;
        connection.close().await.context("cannot close the connection to Postgres")
    }
}

/// The bytes of all files in a folder. It has no subfolders that grow.
fn folder_bytes(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder)? {
        // A write-ahead log file may be gone by now.
        bytes += entry?.metadata().map_or(0, |data| data.len());
    }
    Ok(bytes)
}

/// The URL with another database.
fn with_database(url: &str, name: &str) -> String {
    let (address, parameters) = match url.split_once('?') {
        Some((address, parameters)) => (address, format!("?{parameters}")),
        None => (url, String::new()),
    };
    let host_from = address.find("://").map_or(0, |scheme| scheme + 3);
    let host_to = address[host_from..].find('/').map_or(address.len(), |slash| host_from + slash);
    format!("{}/{name}{parameters}", &address[..host_to])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_database_of_a_url_is_replaced() {
        assert_eq!(with_database("postgres://p@127.0.0.1:5/postgres", "x"), "postgres://p@127.0.0.1:5/x");
        assert_eq!(with_database("postgres://p@127.0.0.1:5", "x"), "postgres://p@127.0.0.1:5/x");
        assert_eq!(with_database("postgres://p@h/a?host=/tmp/s", "x"), "postgres://p@h/x?host=/tmp/s");
    }
}
