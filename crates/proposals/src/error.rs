//! Why an operation on a proposal is refused.

use kalends_kernel::{AgentId, FieldErrors};

use crate::Status;

/// Why an operation on a proposal is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProposalError {
    /// It has ended. A proposal that has ended does not change.
    #[error("the proposal is already {}; only a pending one can be responded to, resolved or cancelled", .0.as_str())]
    NotPending(Status),
    /// The agent that responds is not a participant.
    #[error("agent_id is not a participant of the proposal; see its participant_agent_ids")]
    NotParticipant,
    /// The participant has responded before.
    #[error("{0} has already responded to the proposal; a participant responds once")]
    Duplicate(AgentId),
    /// Nobody has responded yet.
    #[error("there is nothing to resolve: nobody has responded to the proposal yet")]
    NoResponses,
    /// The slot to confirm has begun, or every slot has begun and not every response declines.
    #[error(
        "every slot of the proposal has begun, and only a future slot can be confirmed; cancel the proposal and \
         propose other times"
    )]
    NoSlotLeft,
    /// The response does not fit the proposal.
    #[error(transparent)]
    Invalid(#[from] FieldErrors),
}
