//! What stores keep of a proposal, and the way back.

use std::collections::BTreeSet;

use kalends_kernel::{AgentId, CalendarId, FieldErrors, Metadata, OrgId, ProposalId, Version};
use kalends_time::Timestamp;

use crate::{CancelReason, Proposal, Response, Slot, State, StoredError, bounds::Bounds};

/// The fields of a proposal as a store keeps them. [`Proposal::from_stored`] checks them and [`Proposal::into_stored`]
/// returns them.
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
    /// The caller's own data.
    pub metadata: Metadata,
    /// The row's version.
    pub version: Version,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl Proposal {
    /// The proposal from what a store kept. [`StoredProposal`] has an example.
    ///
    /// The times of changes are not compared with each other, because the clocks of two machines may differ.
    ///
    /// # Errors
    /// [`StoredError`] for what no sequence of [`Proposal::create`] and the transitions returns.
    pub fn from_stored(stored: StoredProposal) -> Result<Self, StoredError> {
        let StoredProposal {
            id,
            org,
            title,
            description,
            organizer,
            participants,
            calendar,
            slots,
            responses,
            state,
            expires_at,
            hold_slots,
            skip_taken,
            metadata,
            version,
            created_at,
            updated_at,
        } = stored;
        let bounds = Bounds {
            title: &title,
            description: description.as_deref(),
            participants: &participants,
            slots: slots.iter().map(|slot| slot.span).collect(),
            expires_at: Some(expires_at),
        };
        bounds.check(created_at).map_err(|errors| StoredError::Field(errors.first()))?;
        let proposal = Self {
            id,
            org,
            title,
            description,
            organizer,
            participants,
            calendar,
            slots,
            responses,
            state,
            expires_at,
            hold_slots,
            skip_taken,
            metadata,
            version,
            created_at,
            updated_at,
        };
        if let Some(twice) = proposal.repeated_slot() {
            return Err(StoredError::SlotTwice(twice));
        }
        proposal.check_responses()?;
        let possible = match state {
            State::Pending | State::Expired | State::Cancelled(CancelReason::OrganizerCancelled) => true,
            State::Cancelled(CancelReason::AllDeclined) => proposal.all_declined() && !proposal.responses.is_empty(),
            State::Confirmed { slot, .. } => proposal.slot(slot).is_some() && !proposal.all_declined(),
        };
        if !possible {
            return Err(StoredError::State(state.status()));
        }
        // Every response and the end have counted as a change.
        let changes = proposal.responses.len().saturating_add(usize::from(state != State::Pending));
        if i64::try_from(changes).map_or(true, |changes| version.0 < Version::FIRST.0.saturating_add(changes)) {
            return Err(StoredError::Version(version));
        }
        Ok(proposal)
    }

    /// The fields that a store keeps. [`StoredProposal`] has an example.
    pub fn into_stored(self) -> StoredProposal {
        StoredProposal {
            id: self.id,
            org: self.org,
            title: self.title,
            description: self.description,
            organizer: self.organizer,
            participants: self.participants,
            calendar: self.calendar,
            slots: self.slots,
            responses: self.responses,
            state: self.state,
            expires_at: self.expires_at,
            hold_slots: self.hold_slots,
            skip_taken: self.skip_taken,
            metadata: self.metadata,
            version: self.version,
            created_at: self.created_at,
            updated_at: self.updated_at,
        }
    }

    /// Checks that each response is the only one of a participant, and selects a slot of this proposal if any.
    fn check_responses(&self) -> Result<(), StoredError> {
        let mut responded = BTreeSet::new();
        for response in &self.responses {
            let agent = response.agent;
            if !self.participants.contains(&agent) {
                return Err(StoredError::NotParticipant(agent));
            }
            if !responded.insert(agent) {
                return Err(StoredError::RespondedTwice(agent));
            }
            let mut errors = FieldErrors::default();
            self.check_response(&response.fields, &mut errors);
            errors.finish().map_err(|errors| StoredError::Response(agent, errors.first()))?;
        }
        Ok(())
    }
}
