//! What a request has to do with an approval.

use std::sync::Arc;

use kalends_accounts::ApprovalPolicy;
use kalends_approvals::{Approval, WaitingRequest};
use kalends_kernel::{AgentId, KeyId};
use kalends_time::SignedDuration;

use crate::operations::Operation;

/// What a request has to do with an approval.
#[derive(Debug, Clone)]
pub enum Approving {
    /// Its key requires approval: the write is asked for, and not made.
    Ask(Arc<Asking>),
    /// It was approved, and is made now.
    Make(Arc<Approved>),
}

/// Who asks for what.
#[derive(Debug)]
pub struct Asking {
    /// The key.
    pub key: KeyId,
    /// The first characters of its text.
    pub key_prefix: String,
    /// The agent that it speaks for.
    pub agent: AgentId,
    /// How long the approval waits at most.
    pub lasts: SignedDuration,
    /// The request.
    pub request: WaitingRequest,
}

/// An approval that is carried out.
#[derive(Debug)]
pub struct Approved {
    /// The approval as it was read.
    pub approval: Approval,
    /// Who approved it, as the audit log names callers.
    pub by: String,
}

/// Whether a write by the operation needs approval under the policy of its key.
pub fn needs_approval(policy: Option<&ApprovalPolicy>, operation: &Operation) -> bool {
    let is_covered = policy.is_some_and(|policy| policy.covers.contains(operation.id));
    is_covered && operation.changes_data() && !operation.decides()
}
