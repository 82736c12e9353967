//! What stores keep of a proposal.

use kalends_kernel::{AgentId, CalendarId, Metadata, OrgId, ProposalId, Version};
use kalends_time::Timestamp;

use crate::{CreatedEvent, Placement, Response, Slot, State};

/// The fields of a proposal as a store keeps them. [`Proposal::from_stored`](crate::Proposal::from_stored) checks them,
/// and [`Proposal::into_stored`](crate::Proposal::into_stored) returns them.
///
/// ```
#[doc = include_str!("offered.txt")]
/// use kalends_proposals::{Proposal, State, StoredError, StoredProposal};
///
/// let stored = proposal.clone().into_stored();
/// assert_eq!((stored.title.as_str(), stored.state), ("Kick-off", State::Pending));
/// assert_eq!(Proposal::from_stored(stored.clone()), Ok(proposal));
/// // A proposal offers at least one slot.
/// let damaged = StoredProposal { slots: Vec::new(), ..stored };
/// assert!(matches!(Proposal::from_stored(damaged), Err(StoredError::Field(_))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct StoredProposal {
    /// The identifier.
    pub id: ProposalId,
    /// The organization.
    pub org: OrgId,
    /// The title.
    pub title: String,
    /// The description.
    pub description: Option<String>,
    /// The agent that organizes the proposal.
    pub organizer: AgentId,
    /// The agents that are asked, in the order given.
    pub participants: Vec<AgentId>,
    /// The calendar for the event, unless the slot names another.
    pub calendar: CalendarId,
    /// The offered slots.
    pub slots: Vec<Slot>,
    /// The responses, in the order in which they were given.
    pub responses: Vec<Response>,
    /// The state.
    pub state: State,
    /// When it expires.
    pub expires_at: Timestamp,
    /// Whether its slots are reserved while it is pending.
    pub hold_slots: bool,
    /// Whether resolving skips slots that are taken.
    pub skip_taken: bool,
    /// How many responses must accept a slot before it can be confirmed.
    pub min_accepts: u32,
    /// Who gets an event when a slot is confirmed.
    pub placement: Placement,
    /// The events of participants, in the order of the participants. Empty unless it is confirmed.
    pub participant_events: Vec<CreatedEvent>,
    /// The caller's own data.
    pub metadata: Metadata,
    /// The row's version.
    pub version: Version,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}
