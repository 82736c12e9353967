//! How a subscription is kept in step with its feed: when it is asked for, what a fetch means, what changes.
//!
//! A worker claims a subscription, fetches, reads ([`crate::read`]), compares ([`diff`]) and commits in chunks, each under
//! the number of its claim; then it records what came of it ([`Ended`]). A claim that has run out may be taken over, and
//! whoever lost it commits nothing more. What was committed before a crash is found as it is by the next sync, so that a
//! sync goes on where another one broke off.

mod diff;
#[cfg(test)]
mod laws;
mod state;

pub use diff::{
    Chunk, Diff, Ending, Fate, Fingerprint, Former, ItemKey, KnownItem, KnownItems, Planned, diff, diff_file,
    ends_withheld,
};
pub use state::{
    CHUNK_MAX, CLAIM_LASTS, Counts, Ended, LEFT_KEPT, Memory, Report, Seen, SyncDetails, SyncState, TooManyImported,
    Validators, next_due,
};
