//! The ports of Kalends on Postgres.
//!
//! [`Database`] is a connection pool with its migrations, and [`PostgresStore`] is the store on top of it. Every
//! statement is checked against the migrations at compile time. The SQL is limited to what Citus, YugabyteDB and
//! CockroachDB also support: no exclusion constraints, no LISTEN and NOTIFY, no session state, no advisory locks, no
//! sequences.
//!
//! - `read` has one module per port that reads. `kalends_rows` turns rows into domain values, and `rows` names its rows
//!   with the keys of this database.
//! - `commit` turns a change-set into a transaction, and `apply` turns its parts into rows.
//! - `counts` counts what plans limit, for both of them.
//! - Text that people wrote, and whatever is derived from it, is sealed before it is stored; see
//!   [`kalends_rows::SealedChangeSet`].

mod allowances;
mod apply;
mod commit;
mod connect_attempts;
mod counts;
mod deletions;
mod error;
mod identities;
mod key_table;
mod letters;
mod open;
mod read;
mod reseal;
mod retry;
mod rows;
#[cfg(feature = "scratch")]
mod scratch;
mod sending;
mod transaction;

use std::sync::Arc;

use kalends_app::ports::FieldCipher;
use kalends_warm_pool::WarmPool;
use sqlx::Postgres;

pub use key_table::PostgresKeyTable;
pub use open::Database;
#[cfg(feature = "scratch")]
pub use scratch::ScratchDatabase;

/// The store of the use cases, on Postgres.
pub struct PostgresStore {
    connections: WarmPool<Postgres>,
    cipher: Arc<dyn FieldCipher>,
    writers: commit::Writers,
    reseal: reseal::Progress,
}

impl PostgresStore {
    /// Creates a store on `database` that seals and opens fields with `cipher`.
    ///
    /// Starts the tasks that write batches, and so needs a running Tokio runtime. The tasks end after the store is
    /// dropped and the queues are empty.
    pub fn new(database: Database, cipher: Arc<dyn FieldCipher>) -> Self {
        let connections = database.into_connections();
        let writers = commit::Writers::spawn(&connections, &cipher);
        Self { connections, cipher, writers, reseal: reseal::Progress::default() }
    }
}
