//! The writes of a decision.

use kalends_kernel::Version;

use crate::{Proposal, Response, State, StoredProposal};

/// One write to proposals.
///
/// ```
#[doc = include_str!("offered.txt")]
/// use kalends_proposals::{CancelReason, Change};
///
/// let create = Change::Create(Box::new(proposal.clone()));
/// assert!(matches!(create, Change::Create(_)));
/// let cancelled = proposal.cancelled(CancelReason::OrganizerCancelled, now)?;
/// let Change::Update { seen, response, .. } = Change::update(&proposal, cancelled)? else { unreachable!() };
/// assert_eq!((seen, response), (proposal.version(), None));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// A new proposal.
    Create(Box<Proposal>),
    /// The changed proposal: its state, and the response that was given. Stale if the row no longer has the version
    /// that the decision read, so that only one of two requests can end it. Only [`Change::update`] makes one.
    #[non_exhaustive]
    Update {
        /// The row to write. Only `response` is new among its responses.
        proposal: Box<Proposal>,
        /// The version that was read.
        seen: Version,
        /// The response that was given, if any.
        response: Option<Response>,
    },
}

/// The proposal does not follow from the one that was read.
///
/// ```
#[doc = include_str!("offered.txt")]
/// use kalends_proposals::{Change, NotNext};
///
/// // Nothing has changed.
/// assert_eq!(Change::update(&proposal, proposal.clone()), Err(NotNext));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the proposal does not follow from the one that was read by at most one response and one end")]
pub struct NotNext;

impl Change {
    /// The write that replaces `seen`, as it was read, by `next`: at most one response more, and an end or none.
    ///
    /// # Errors
    /// [`NotNext`] if `seen` has ended, if `next` is `seen`, and if they differ in anything that no response and no end
    /// changes.
    ///
    /// ```
    #[doc = include_str!("offered.txt")]
    /// use kalends_proposals::{Change, NewResponse};
    ///
    /// let next = proposal.respond(ben, NewResponse::decline(), now, &entropy)?;
    /// let Change::Update { response, .. } = Change::update(&proposal, next.clone())? else { unreachable!() };
    /// assert_eq!(response.as_ref(), next.responses().last());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn update(seen: &Proposal, next: Proposal) -> Result<Self, NotNext> {
        let response = match next.responses().strip_prefix(seen.responses()) {
            Some([]) => None,
            Some([response]) => Some(response.clone()),
            _ => return Err(NotNext),
        };
        // Everything else is the same.
        let kept = StoredProposal {
            state: next.state(),
            version: next.version(),
            updated_at: next.updated_at(),
            responses: next.responses().to_vec(),
            participant_events: next.participant_events().to_vec(),
            ..seen.0.clone()
        };
        if kept != next.0 || next.version() <= seen.version() || seen.state() != State::Pending {
            return Err(NotNext);
        }
        Ok(Self::Update { proposal: Box::new(next), seen: seen.version(), response })
    }
}
