//! Runs: writes that belong to one task, and how they are taken back.
//!
//! A caller names a run in a header of its requests. Each write of an event, and each new proposal, adds an [`Entry`] to
//! the journal of the run: the state before the write, and the version after it. [`collapse`] reduces the entries to one
//! [`Written`] for each resource. [`undo_event`] and [`undo_proposal`] compare it with the current state and decide what
//! takes the writes back, or why nothing can.
//!
//! An undo gives what would be there without the run. So a hold that has expired in the meantime comes back as one that
//! expired.

mod change;
mod decision;
mod entry;
#[cfg(test)]
mod laws;
mod name;
pub mod ports;
#[cfg(test)]
mod samples;

pub use change::Change;
pub use decision::{Kept, Reason, Step, undo_event, undo_proposal};
pub use entry::{Entry, Resource, ResourceKind, RunKey, WRITES_MAX, Written, collapse};
pub use name::{HEADER, NAME_MAX, RunName};
