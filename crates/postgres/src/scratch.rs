//! Databases that last for one test, for crates that must not contain SQL.

use std::str::FromStr as _;

use kalends_kernel::StoreError;
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _};

use crate::error::store_error;

/// A new, empty database on a server; it is dropped with this value.
#[derive(Debug)]
pub struct ScratchDatabase {
    server: PgConnectOptions,
    name: String,
}

impl ScratchDatabase {
    /// Creates the database. `url` names one whose user may create others. `name` consists of lower-case letters,
    /// digits and underscores, and must be unique to the test: an older database of that name is dropped.
    ///
    /// # Errors
    /// [`StoreError`] if the URL is wrong or the server does not answer.
    pub async fn create(url: &str, name: &str) -> Result<Self, StoreError> {
        let database = Self { server: PgConnectOptions::from_str(url).map_err(store_error)?, name: name.to_owned() };
        database.run(format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await?;
        database.run(format!("CREATE DATABASE {name}")).await?;
        Ok(database)
    }

    /// The server's host and port.
    pub fn server(&self) -> (String, u16) {
        (self.server.get_host().to_owned(), self.server.get_port())
    }

    /// The URL of the database through another host and port, without encryption.
    pub fn url_through(&self, host: &str, port: u16) -> String {
        let through = self.server.clone().host(host).port(port).database(&self.name).ssl_mode(PgSslMode::Disable);
        through.to_url_lossy().to_string()
    }

    async fn run(&self, statement: String) -> Result<(), StoreError> {
        let mut connection = self.server.connect().await.map_err(store_error)?;
        connection.execute(AssertSqlSafe(statement)).await.map_err(store_error)?;
        connection.close().await.map_err(store_error)
    }
}

impl Drop for ScratchDatabase {
    fn drop(&mut self) {
        // The test's runtime must not be blocked, and may be about to end.
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                let drop = self.run(format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name));
                // A database that cannot be dropped goes away with the throwaway server.
                let _ = runtime.map(|runtime| runtime.block_on(drop));
            });
        });
    }
}
