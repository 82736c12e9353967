//! The writes of the journal.

use kalends_time::Timestamp;

use crate::{Entry, RunKey};

/// One write to the journal of runs.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// A run wrote a resource. Stale if the run has more than [`WRITES_MAX`](crate::WRITES_MAX) writes after the
    /// change-set.
    Record {
        /// The run.
        run: RunKey,
        /// The write.
        entry: Box<Entry>,
    },
    /// All writes of the run that are not taken back yet are taken back now. Stale unless there are exactly `count`, so
    /// that no write is recorded in between and forgotten.
    Undo {
        /// The run.
        run: RunKey,
        /// How many were read.
        count: u64,
        /// The current time.
        at: Timestamp,
    },
}
