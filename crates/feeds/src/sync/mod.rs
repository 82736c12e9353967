//! Syncs, which keep a calendar in step with its feed.
//!
//! A worker claims a subscription, fetches the feed, reads it ([`crate::read`]), compares it ([`diff`]) and commits in
//! chunks, each with its claim number. Then it records the result ([`Ended`]). A claim that has expired may be taken
//! over, and a worker that lost its claim commits nothing more. The next sync finds what was committed before a crash,
//! so it continues from there.

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
