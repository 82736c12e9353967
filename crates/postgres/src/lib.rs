//! The store on Postgres.
//!
//! [`Database`] is a connection pool with its migrations, and [`PostgresStore`] is the store on top of it. Every
//! statement is checked against the migrations at compile time. The SQL is limited to what Citus, YugabyteDB and
//! CockroachDB also support: no exclusion constraints, no LISTEN and NOTIFY, no session state, no advisory locks, no
//! sequences.
//!
//! - `read` has one module per port that reads. `kalends_rows` turns rows into domain values, and `rows` names its row
//!   types with the key type of this database.
//! - `commit` turns a change-set into a transaction, and `apply` turns its parts into rows.
//! - `counts` counts what plans limit, for both `read` and `apply`.
//! - Confidential fields, such as the title of an event, are sealed before they are stored; see
//!   [`kalends_rows::SealedChangeSet`].

mod allowances;
mod apply;
mod commit;
mod connect_attempts;
mod connectors;
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
mod store;
mod transaction;

pub use key_table::PostgresKeyTable;
pub use open::{Database, newest_migration};
#[cfg(feature = "scratch")]
pub use scratch::ScratchDatabase;
pub use store::PostgresStore;
