//! The port of proposals, which stores implement.

use async_trait::async_trait;
use kalends_kernel::{AgentId, Listed, OrgId, Page, ProposalId, StoreError};
use kalends_time::Timestamp;

use crate::{Proposal, Status};

/// A status at an instant. A pending proposal whose expiry has passed by then counts as expired
/// ([`Proposal::state_at`]).
///
/// ```
/// use kalends_proposals::{Status, ports::{ProposalFilter, StatusAt}};
///
/// let open = StatusAt { status: Status::Pending, now: "2027-03-01T08:00:00Z".parse()? };
/// let filter = ProposalFilter { status: Some(open), ..ProposalFilter::default() };
/// assert_eq!(filter.organizer, None);
/// # Ok::<(), kalends_time::ParseTimestampError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatusAt {
    /// The status.
    pub status: Status,
    /// The instant.
    pub now: Timestamp,
}

/// Selects the proposals of a list. By default, it selects all. [`StatusAt`] has an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProposalFilter {
    /// Only proposals with this status.
    pub status: Option<StatusAt>,
    /// Only proposals that this agent organizes.
    pub organizer: Option<AgentId>,
    /// Only proposals that this agent organizes or takes part in.
    pub party: Option<AgentId>,
}

/// Reads proposals, each with its slots, participants and responses.
#[async_trait]
pub trait Proposals: Send + Sync {
    /// The proposal, or `None` if the organization has none with that id.
    async fn find_proposal(&self, org: OrgId, id: ProposalId) -> Result<Option<Proposal>, StoreError>;

    /// Proposals by creation and then identifier, oldest first.
    async fn list_proposals(
        &self,
        org: OrgId,
        filter: ProposalFilter,
        page: Page,
    ) -> Result<Listed<Proposal>, StoreError>;

    /// Up to `limit` pending proposals of any organization whose expiry has passed at `now`, earliest expiry first. A
    /// row that cannot be read is logged and left out.
    async fn overdue_proposals(&self, now: Timestamp, limit: u32) -> Result<Vec<Proposal>, StoreError>;

    /// Removes up to `limit` reservations of any organization that have expired at `now`, and returns their number. An
    /// expired reservation blocks nothing.
    async fn forget_reservations(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError>;
}
