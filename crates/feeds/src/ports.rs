//! What stores offer for subscriptions and imports.

use async_trait::async_trait;
use kalends_kernel::{AgentId, CalendarId, Listed, OrgId, Page, RemoteUrl, StoreError, SubscriptionId, Timestamp};

use crate::{
    change::{Origin, SyncClaim},
    subscription::{Neighbours, Subscription, SubscriptionStatus},
    sync::KnownItem,
};

/// Reads subscriptions, of calendars in sight.
#[async_trait]
pub trait Subscriptions: Send + Sync {
    /// One subscription.
    async fn find_subscription(
        &self,
        org: OrgId,
        subscription: SubscriptionId,
    ) -> Result<Option<Subscription>, StoreError>;

    /// What an address meets on a calendar, in sight or not, in one snapshot. Deleted subscriptions before the last
    /// [`LEFT_MAX`](crate::LEFT_MAX) to the address' host may be left out; those that are there never are. However many
    /// there are, those to other addresses take no memory.
    async fn subscriptions_beside(
        &self,
        org: OrgId,
        calendar: CalendarId,
        url: &RemoteUrl,
    ) -> Result<Neighbours, StoreError>;

    /// An agent's subscriptions, or the organization's, by creation, then identifier.
    async fn list_subscriptions(
        &self,
        org: OrgId,
        agent: Option<AgentId>,
        status: Option<SubscriptionStatus>,
        page: Page,
    ) -> Result<Listed<Subscription>, StoreError>;

    /// Claims up to `limit` subscriptions that are due, deleted ones too, those that have waited longest first, until `until`; at most
    /// `per_host` of one host are claimed by all workers together. Removes those due whose calendar is out of sight.
    async fn claim_subscriptions(
        &self,
        now: Timestamp,
        until: Timestamp,
        per_host: u32,
        limit: u32,
    ) -> Result<Vec<(SyncClaim, Subscription)>, StoreError>;
}

/// Reads what was imported.
#[async_trait]
pub trait ImportedItems: Send + Sync {
    /// The items of an origin that an event in sight holds, in no particular order.
    async fn known_items(&self, org: OrgId, origin: Origin) -> Result<Vec<KnownItem>, StoreError>;

    /// Removes up to `limit` imported events that were deleted by `before`, or whose calendar or its agent was, and says
    /// how many.
    async fn purge_imported_events(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;
}
