//! Why an operation on a proposal is refused.

use kalends_kernel::{AgentId, FieldError, FieldErrors, SlotId, Version};
use kalends_time::Timestamp;

use crate::Status;

/// Why an operation on a proposal is refused.
///
/// ```
/// use kalends_proposals::{ProposalError, Status};
///
/// let error = ProposalError::NotPending(Status::Expired).to_string();
/// assert_eq!(error, "the proposal is already expired; only a pending one can be responded to, resolved or cancelled");
/// ```
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
    /// No slot that starts in the future, or not the slot to confirm, has this many acceptances, the proposal's minimum.
    #[error(
        "no slot that can be confirmed has min_accepts ({0}) acceptances; wait for other responses, or cancel the \
         proposal and propose other times or a smaller min_accepts"
    )]
    TooFewAccepts(u32),
    /// A slot was to be confirmed, but every response declines. Such a proposal is cancelled.
    #[error("every response declines, so no slot can be confirmed; cancel the proposal")]
    AllDeclined,
    /// The proposal was to be cancelled because every response declines, but not every response does.
    #[error("not every response declines; confirm a slot, or cancel the proposal for the organizer")]
    NotAllDeclined,
    /// The proposal was to expire, but it is pending until this instant.
    #[error("the proposal does not expire before {0}")]
    NotExpired(Timestamp),
    /// The response does not fit the proposal.
    #[error(transparent)]
    Invalid(#[from] FieldErrors),
}

/// Why what a store kept is not a proposal. No sequence of decisions writes such a row, so it is damaged.
///
/// ```
#[doc = include_str!("offered.txt")]
/// use kalends_proposals::{CancelReason, Proposal, State, Status, StoredError, StoredProposal};
///
/// // Nobody has declined.
/// let state = State::Cancelled(CancelReason::AllDeclined);
/// let damaged = StoredProposal { state, ..proposal.into_stored() };
/// assert_eq!(Proposal::from_stored(damaged), Err(StoredError::State(Status::Cancelled)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoredError {
    /// A field exceeds the bounds of a new proposal.
    #[error("the field {0}")]
    Field(FieldError),
    /// Two slots have this identifier.
    #[error("two slots have the identifier {0}")]
    SlotTwice(SlotId),
    /// A field of this agent's response exceeds its bounds.
    #[error("the response of {0} has the field {1}")]
    Response(AgentId, FieldError),
    /// An agent that is not a participant has responded.
    #[error("{0} has responded, but is not a participant")]
    NotParticipant(AgentId),
    /// An agent has responded twice.
    #[error("{0} has responded twice")]
    RespondedTwice(AgentId),
    /// The outcome does not follow from the slots and the responses.
    #[error("the proposal cannot be {} with its slots and responses", .0.as_str())]
    State(Status),
    /// This agent gets no event from the proposal, or gets two.
    #[error("the proposal has an event for {0} that it does not create")]
    Event(AgentId),
    /// The version is lower than the number of changes.
    #[error("the version {} is lower than the number of changes", .0.0)]
    Version(Version),
}
