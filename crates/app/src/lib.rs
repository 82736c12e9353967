//! What Kalends offers: every use case is authorize, read, decide, commit.
//!
//! Nothing here knows of HTTP or SQL. Stores, mail, time and randomness come through ports.

mod change_set;
mod commit_queue;
pub mod ports;

pub use change_set::{Answer, ChangeSet, Charge, Guard, StoredAnswer};
pub use commit_queue::{ApplyBatch, BATCH_MAX, CommitQueue};
