//! What stores offer for proposals.

use async_trait::async_trait;
use kalends_kernel::{AgentId, Listed, OrgId, Page, ProposalId, StoreError, Timestamp};

use crate::{Proposal, Status};

/// A status at an instant: a proposal that is pending and over by then counts as expired
/// ([`Proposal::state_at`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatusAt {
    /// The status.
    pub status: Status,
    /// The instant.
    pub now: Timestamp,
}

/// Which proposals a list holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProposalFilter {
    /// Only those of this status.
    pub status: Option<StatusAt>,
    /// Only those that this agent organizes.
    pub organizer: Option<AgentId>,
    /// Only those that this agent organizes or takes part in.
    pub party: Option<AgentId>,
}

/// Reads proposals, each with its slots, participants and responses.
#[async_trait]
pub trait Proposals: Send + Sync {
    /// The proposal, or `None` where the organization has none of that id.
    async fn find_proposal(&self, org: OrgId, id: ProposalId) -> Result<Option<Proposal>, StoreError>;

    /// Proposals by creation, then identifier, the oldest first.
    async fn list_proposals(
        &self,
        org: OrgId,
        filter: ProposalFilter,
        page: Page,
    ) -> Result<Listed<Proposal>, StoreError>;

    /// Up to `limit` proposals of any organization that are pending and over at `now`, those first that are over longest. A
    /// row that cannot be read is told in the log and left out.
    async fn overdue_proposals(&self, now: Timestamp, limit: u32) -> Result<Vec<Proposal>, StoreError>;

    /// Removes up to `limit` reservations of any organization that are over at `now`, and says how many. They block
    /// nothing since.
    async fn forget_reservations(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError>;
}
