//! The databases that the tests run on.

use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

/// Names the server in which tests create their Postgres databases.
const TEST_POSTGRES: &str = "KALENDS_TEST_POSTGRES";

/// The database that a server runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Database {
    /// The embedded SQLite.
    Sqlite,
    /// A database of its own in the test run's Postgres.
    Postgres,
}

/// A Postgres database that is dropped with this value.
pub(crate) struct PostgresDatabase {
    server: String,
    name: String,
}

impl PostgresDatabase {
    /// Creates a database with a name that no other running test uses.
    pub(crate) async fn create(unique: &str) -> Self {
        let server = crate::server::variable(TEST_POSTGRES)
            .unwrap_or_else(|| panic!("{TEST_POSTGRES} is not set: run the tests with `cargo xtask test`"));
        let database = Self { server, name: format!("kalends_e2e_{unique}") };
        database.run(format!("create database \"{}\"", database.name)).await.expect("a new database");
        database
    }

    /// The URL of the database.
    pub(crate) fn url(&self) -> String {
        let (server, _) = self.server.rsplit_once('/').expect("postgres://USER@HOST:PORT/DATABASE");
        format!("{server}/{}", self.name)
    }

    async fn run(&self, sql: String) -> Result<(), sqlx::Error> {
        let mut connection = PgConnection::connect(&self.server).await?;
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await?;
        connection.close().await
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
                let _ = runtime.map(|runtime| runtime.block_on(self.run(sql)));
            });
        });
    }
}
