//! The port through which approvals are read.

use async_trait::async_trait;
use kalends_kernel::{AgentId, ApprovalId, KeyId, Listed, OrgId, Page, StoreError};
use kalends_time::Timestamp;

use crate::{Approval, Status};

/// Which approvals of an organization a list shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ApprovalFilter {
    /// Only those that keys of the agent asked for.
    pub agent: Option<AgentId>,
    /// Only those with the status at the time, which decides what has expired.
    pub status: Option<(Status, Timestamp)>,
}

/// Reads approvals.
#[async_trait]
pub trait Approvals: Send + Sync {
    /// An approval.
    async fn find_approval(&self, org: OrgId, id: ApprovalId) -> Result<Option<Approval>, StoreError>;

    /// The stored status of an approval, and when it expires if nobody decides: what [`Approval::status`] is made of, without
    /// the rest.
    async fn approval_status(&self, org: OrgId, id: ApprovalId) -> Result<Option<(Status, Timestamp)>, StoreError>;

    /// The approvals that the filter selects, the newest first.
    async fn list_approvals(
        &self,
        org: OrgId,
        filter: ApprovalFilter,
        page: Page,
    ) -> Result<Listed<Approval>, StoreError>;

    /// Up to `limit` approvals of the organization that are pending and have not expired at `now`, the first to expire first.
    async fn pending_approvals(&self, org: OrgId, now: Timestamp, limit: u32) -> Result<Vec<Approval>, StoreError>;

    /// How many approvals of the key are pending and have not expired at `now`.
    async fn count_pending_approvals(&self, org: OrgId, key: KeyId, now: Timestamp) -> Result<u64, StoreError>;

    /// The approvals of the key that are pending and have not expired at `now`, the first to expire first: at most
    /// [`PENDING_MAX`](crate::PENDING_MAX).
    async fn pending_approvals_of_key(
        &self,
        org: OrgId,
        key: KeyId,
        now: Timestamp,
    ) -> Result<Vec<Approval>, StoreError>;

    /// Up to `limit` approvals of all organizations that are stored as pending and expired at or before `now`, the first
    /// to expire first.
    async fn overdue_approvals(&self, now: Timestamp, limit: u32) -> Result<Vec<Approval>, StoreError>;

    /// Forgets up to `limit` approvals of all organizations that were decided, or expired, at or before that time. Returns
    /// how many.
    async fn purge_approvals(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;
}
