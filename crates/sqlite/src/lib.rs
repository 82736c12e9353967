//! The store on SQLite, in one file and without a server.
//!
//! [`Database`] opens the file with one connection that writes and a pool of read-only connections that never wait
//! for it (write-ahead log). [`SqliteStore`] implements the ports on top. Change-sets go through a queue. Those that
//! wait together are applied in one transaction, each as a whole or not at all, and are acknowledged when that
//! transaction is on disk.
//!
//! Statements are checked against the schema at compile time, from the data in `.sqlx`.

mod allowances;
mod apply;
mod busy_text;
mod commit;
mod connect_attempts;
mod connectors;
mod counts;
mod deletions;
mod error;
mod identities;
mod json;
mod key_table;
mod letters;
mod open;
mod read;
mod reseal;
mod rows;
mod sending;
mod store;
mod writer;

pub use key_table::SqliteKeyTable;
pub use open::{Database, OpenOptions, newest_migration};
pub use store::SqliteStore;
