//! The databases that the tests run on.
//!
//! Applying all migrations would be most of a server's start. So the binary under test applies them once, to a
//! template, and each test gets a copy.

use std::{
    ffi::OsStr,
    fs::{self, DirBuilder},
    os::unix::fs::DirBuilderExt as _,
    path::Path,
    process::Command,
};

use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use crate::{
    kept,
    under_test::{binary, variable},
};

/// Names the server in which tests create their Postgres databases.
const TEST_POSTGRES: &str = "KALENDS_TEST_POSTGRES";
/// The lock under which the first test makes the template in Postgres.
const TEMPLATE_LOCK: i64 = 0x6b61_6c65_6e64_7301;
/// The SQLite file in a data directory.
const SQLITE: &str = "kalends.db";

/// The database that a server runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Database {
    /// The embedded SQLite.
    Sqlite,
    /// A database of its own in the test run's Postgres.
    Postgres,
}

/// The tables of a new database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Schema {
    /// No tables.
    Absent,
    /// All tables, without any data of callers.
    Current,
}

/// A Postgres database that is dropped with this value.
pub(crate) struct PostgresDatabase {
    server: String,
    name: String,
}

impl PostgresDatabase {
    /// Creates a database with a name that no other running test uses.
    pub(crate) async fn create(unique: &str, schema: Schema) -> Self {
        let server = variable(TEST_POSTGRES)
            .unwrap_or_else(|| panic!("{TEST_POSTGRES} is not set: run the tests with `cargo xtask test`"));
        let database = Self { server, name: format!("kalends_e2e_{unique}") };
        let mut connection = PgConnection::connect(&database.server).await.expect("the test run's Postgres");
        let source = match schema {
            Schema::Absent => String::new(),
            Schema::Current => {
                let template = template(&mut connection, &database.server).await;
                format!(" template \"{template}\"")
            }
        };
        run(&mut connection, format!("create database \"{}\"{source}", database.name)).await.expect("a new database");
        connection.close().await.expect("a connection that works");
        database
    }

    /// The URL of the database.
    pub(crate) fn url(&self) -> String {
        url(&self.server, &self.name)
    }
}

impl Drop for PostgresDatabase {
    fn drop(&mut self) {
        // The test's runtime must not be blocked, so another thread brings its own.
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                let sql = format!("drop database if exists \"{}\" with (force)", self.name);
                // A database that cannot be dropped goes with the throwaway cluster.
                let _ = runtime.map(|runtime| {
                    runtime.block_on(async {
                        let mut connection = PgConnection::connect(&self.server).await?;
                        run(&mut connection, sql).await?;
                        connection.close().await
                    })
                });
            });
        });
    }
}

/// Makes a data directory that holds a SQLite database with all tables.
pub(crate) fn make_data_dir(path: &Path) {
    let template = kept::file("migrated.db", |template| {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let data = folder.path().join("data");
        migrate("KALENDS_DATA_DIR", data.as_os_str());
        fs::copy(data.join(SQLITE), template).expect("a migrated database");
    });
    DirBuilder::new().mode(0o700).create(path).expect("a new data directory");
    fs::copy(template, path.join(SQLITE)).expect("a copy of the database");
}

/// The URL of a database of the server.
fn url(server: &str, name: &str) -> String {
    let (server, _) = server.rsplit_once('/').expect("postgres://USER@HOST:PORT/DATABASE");
    format!("{server}/{name}")
}

async fn run(connection: &mut PgConnection, sql: String) -> Result<(), sqlx::Error> {
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(connection).await?;
    Ok(())
}

/// Returns the name of the template in Postgres. The first test that needs it makes it. The name depends on the binary
/// that makes it, so that a server that outlives a change of the migrations does not reuse an old template.
async fn template(connection: &mut PgConnection, server: &str) -> String {
    let name = format!("kalends_e2e_template_{}", *kept::STAMP);
    if exists(connection, &name).await {
        return name;
    }
    let lock = format!("select pg_advisory_lock({TEMPLATE_LOCK})");
    run(connection, lock).await.expect("the lock of the template");
    if !exists(connection, &name).await {
        let made = format!("{name}_new");
        run(connection, format!("drop database if exists \"{made}\" with (force)")).await.expect("a free name");
        run(connection, format!("create database \"{made}\"")).await.expect("a new database");
        migrate("KALENDS_DATABASE_URL", OsStr::new(&url(server, &made)));
        run(connection, format!("alter database \"{made}\" rename to \"{name}\"")).await.expect("the template");
    }
    let unlock = format!("select pg_advisory_unlock({TEMPLATE_LOCK})");
    run(connection, unlock).await.expect("the lock of the template");
    name
}

async fn exists(connection: &mut PgConnection, name: &str) -> bool {
    let exists = sqlx::query_scalar("select exists (select 1 from pg_database where datname = $1)").bind(name);
    exists.fetch_one(connection).await.expect("the list of databases")
}

/// Has the binary under test apply all migrations to the database that this setting names.
fn migrate(setting: &str, value: &OsStr) {
    let ended = Command::new(binary()).arg("migrate").env_clear().env(setting, value).output();
    let ended = ended.expect("the binary to start");
    assert!(ended.status.success(), "no template: {}", String::from_utf8_lossy(&ended.stderr));
}
