//! What a decision writes.

use kalends_kernel::Version;

use crate::{Proposal, Response};

/// One write to proposals.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// A new proposal.
    Create(Box<Proposal>),
    /// The proposal as it is from now on: its state, and the response that came with it. Stale where the row has another
    /// version than the decision saw, so that of two who end it one loses.
    Update {
        /// The row to write. Of its responses only `response` is new.
        proposal: Box<Proposal>,
        /// The version that was read.
        seen: Version,
        /// The response that was given, if one was.
        response: Option<Response>,
    },
}
