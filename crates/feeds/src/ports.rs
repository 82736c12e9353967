//! The reads of subscriptions and imported items that stores implement.

use async_trait::async_trait;
use kalends_kernel::{AgentId, CalendarId, Listed, OrgId, Page, StoreError, SubscriptionId};
use kalends_remote::RemoteUrl;
use kalends_time::Timestamp;

use crate::{
    change::{Origin, SyncClaim},
    subscription::{Neighbours, Subscription, SubscriptionStatus},
    sync::KnownItem,
};

/// Reads subscriptions of visible calendars.
#[async_trait]
pub trait Subscriptions: Send + Sync {
    /// The subscription with that id.
    async fn find_subscription(
        &self,
        org: OrgId,
        subscription: SubscriptionId,
    ) -> Result<Option<Subscription>, StoreError>;

    /// The subscriptions of a calendar to an address, whether or not the calendar is visible, in one snapshot. Only the
    /// last [`LEFT_MAX`](crate::LEFT_MAX) deleted subscriptions to the host of the address need to be searched;
    /// subscriptions that are not deleted are never left out. Subscriptions to other addresses take no memory, however
    /// many there are.
    async fn subscription_neighbours(
        &self,
        org: OrgId,
        calendar: CalendarId,
        url: &RemoteUrl,
    ) -> Result<Neighbours, StoreError>;

    /// An agent's subscriptions, or the organization's, by creation and then identifier.
    async fn list_subscriptions(
        &self,
        org: OrgId,
        agent: Option<AgentId>,
        status: Option<SubscriptionStatus>,
        page: Page,
    ) -> Result<Listed<Subscription>, StoreError>;

    /// Claims up to `limit` subscriptions that are due, deleted ones included, longest due first. The claims last until
    /// `until`. All workers together claim at most `per_host` subscriptions of one host. Due subscriptions whose
    /// calendar is not visible are removed.
    async fn claim_subscriptions(
        &self,
        now: Timestamp,
        until: Timestamp,
        per_host: u32,
        limit: u32,
    ) -> Result<Vec<(SyncClaim, Subscription)>, StoreError>;
}

/// Reads imported items.
#[async_trait]
pub trait ImportedItems: Send + Sync {
    /// The items of an origin whose event is visible and still on its calendar, in no particular order.
    async fn known_items(&self, org: OrgId, origin: Origin) -> Result<Vec<KnownItem>, StoreError>;

    /// Removes up to `limit` imported events that were deleted by `before`, or whose calendar or agent was, and returns
    /// their number.
    async fn purge_imported_events(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;
}
