//! How much there is in an organization.

use async_trait::async_trait;
use kalends_kernel::{OrgId, StoreError};
use kalends_time::{SignedDuration, Timestamp};

/// How far [`Glance::bookings`] looks ahead.
pub const GLANCE_AHEAD: SignedDuration = SignedDuration::days(7);

/// How much there is in an organization.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Glance {
    /// Whether a key was ever used, in force or not.
    pub has_used_key: bool,
    /// Whether there was ever an agent, decommissioned or not.
    pub has_had_agent: bool,
    /// The agents that are not decommissioned.
    pub agents: u64,
    /// The visible calendars.
    pub calendars: u64,
    /// The visible series with an occurrence that ends later, without imported ones.
    pub series: u64,
    /// The visible booking pages.
    pub booking_pages: u64,
    /// The webhook endpoints.
    pub webhooks: u64,
    /// Those that the service switched off because they failed.
    pub failed_webhooks: u64,
    /// The proposals that can still be answered.
    pub pending_proposals: u64,
    /// The writes that wait for approval.
    pub pending_approvals: u64,
    /// The holds on visible calendars that have not expired.
    pub holds: u64,
    /// The bookings that are not cancelled, of events that begin within [`GLANCE_AHEAD`].
    pub bookings: u64,
}

/// What waits for somebody in an organization.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Waits {
    /// The number of writes that wait for approval.
    pub approvals: u64,
    /// Whether there are holds on visible calendars that have not expired.
    pub has_holds: bool,
    /// Whether there are proposals that can still be answered.
    pub has_proposals: bool,
    /// The number of open invitations to become a member.
    pub invitations: u64,
}

/// Counts what there is.
#[async_trait]
pub trait Glances: Send + Sync {
    /// How much there is in the organization at `now`, in one statement. No count reads more than the organization's
    /// own rows of one kind, and that of bookings only the next days.
    async fn glance(&self, org: OrgId, now: Timestamp) -> Result<Glance, StoreError>;

    /// What waits in the organization at `now`, in one statement.
    async fn waits(&self, org: OrgId, now: Timestamp) -> Result<Waits, StoreError>;
}
