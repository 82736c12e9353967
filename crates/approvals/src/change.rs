//! The writes of approvals.

use kalends_kernel::Version;

use crate::Approval;

/// One write of an approval.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Creates a pending approval. Stale if its key then has more than [`PENDING_MAX`](crate::PENDING_MAX) approvals that
    /// are pending and have not expired at its creation.
    Ask(Box<Approval>),
    /// Writes the decision on an approval. Stale unless the stored approval has the version that was read.
    Decide {
        /// The approval with its decision.
        approval: Box<Approval>,
        /// The version that was read.
        seen: Version,
    },
}

impl Change {
    /// The approval as it is written.
    pub fn approval(&self) -> &Approval {
        match self {
            Self::Ask(approval) | Self::Decide { approval, .. } => approval,
        }
    }
}
