//! Hostile conditions: requests that no client would send, databases that are unreachable, full disks, and callers
//! that never finish. Also runs the quickstart as its reader would.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "the whole crate is tests, and a failure must fail them"
)]

mod bodies;
mod description;
mod early;
mod failures;
mod forms;
mod generate;
mod hanging;
mod protocol;
mod proxy;
mod quickstart;
mod raw;
mod slow;
mod uploads;
