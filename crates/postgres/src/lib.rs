//! The ports of Kalends in the SQL of Postgres.
//!
//! [`Database`] is a pool with its migrations, [`PostgresStore`] the store on top of it. Every
//! statement is checked against the migrations at compile time. The SQL keeps to what Citus,
//! YugabyteDB and CockroachDB also know: no exclusion constraints, no LISTEN and NOTIFY, no state of
//! a session, no advisory locks, no sequences.
//!
//! - `read` holds one module per port that reads, `rows` turns rows into what the domain knows.
//! - `commit` says how a change-set becomes a transaction, `apply` how its parts become rows.
//! - `counts` says how much of what plans limit is used, to both of them.
//! - Text that people wrote, and what is derived from it, is sealed before it is stored; see `sealed`.

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
mod sealed;
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

/// Everything that the use cases need, on Postgres.
pub struct PostgresStore {
    connections: WarmPool<Postgres>,
    cipher: Arc<dyn FieldCipher>,
    writers: commit::Writers,
    reseal: reseal::Progress,
}

impl PostgresStore {
    /// The store on `database`, sealing and opening fields with `cipher`.
    ///
    /// Starts the tasks that write what was gathered, and so needs a running Tokio runtime. They end
    /// when the store is dropped, after what is queued.
    pub fn new(database: Database, cipher: Arc<dyn FieldCipher>) -> Self {
        let connections = database.into_connections();
        let writers = commit::Writers::spawn(&connections, &cipher);
        Self { connections, cipher, writers, reseal: reseal::Progress::default() }
    }
}
