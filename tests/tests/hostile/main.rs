//! What a server must bear: requests that no client would send, databases that go away, disks that
//! are full, callers that never finish. And the walk of the quickstart, as its reader would do it.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "the whole crate is tests: whatever goes wrong is to fail them"
)]

mod bodies;
mod description;
mod early;
mod failures;
mod generate;
mod hanging;
mod protocol;
mod proxy;
mod quickstart;
mod raw;
mod slow;
mod uploads;
