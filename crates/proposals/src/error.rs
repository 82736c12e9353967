//! Why something cannot be done with a proposal.

use kalends_kernel::{AgentId, FieldErrors};

use crate::Status;

/// Why something cannot be done with a proposal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProposalError {
    /// It has ended. What has ended stays as it is.
    #[error("the proposal is already {}; only a pending one can be responded to, resolved or cancelled", .0.as_str())]
    NotPending(Status),
    /// Whoever responds is none of its participants.
    #[error("agent_id is no participant of the proposal; participant_agent_ids names those who are")]
    NotParticipant,
    /// The participant has responded before.
    #[error("{0} has responded to the proposal already; a participant responds once")]
    Duplicate(AgentId),
    /// Nobody has responded yet.
    #[error("there is nothing to resolve: nobody has responded to the proposal yet")]
    NoResponses,
    /// Somebody wants a slot, but all of them have begun.
    #[error(
        "every slot of the proposal has begun, and only one that lies ahead can be confirmed; cancel the proposal and \
         propose other times"
    )]
    NoSlotLeft,
    /// The response does not fit the proposal.
    #[error(transparent)]
    Invalid(#[from] FieldErrors),
}
