//! The writes of a decision.

use kalends_kernel::Version;

use crate::{Proposal, Response};

/// One write to proposals.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// A new proposal.
    Create(Box<Proposal>),
    /// The changed proposal: its state, and the response that was given. Stale if the row no longer has the version
    /// that the decision read, so that only one of two requests can end it.
    Update {
        /// The row to write. Only `response` is new among its responses.
        proposal: Box<Proposal>,
        /// The version that was read.
        seen: Version,
        /// The response that was given, if any.
        response: Option<Response>,
    },
}
