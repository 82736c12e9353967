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

/// The number of subscriptions, by status.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SubscriptionCounts {
    /// Those with [`SubscriptionStatus::Active`].
    pub active: u64,
    /// Those with [`SubscriptionStatus::Error`].
    pub error: u64,
    /// Those with [`SubscriptionStatus::Paused`].
    pub paused: u64,
}

impl SubscriptionCounts {
    /// Adds to the count of a status.
    pub const fn add(&mut self, status: SubscriptionStatus, more: u64) {
        match status {
            SubscriptionStatus::Active => self.active += more,
            SubscriptionStatus::Error => self.error += more,
            SubscriptionStatus::Paused => self.paused += more,
        }
    }

    /// The count of a status, or the total.
    pub const fn of(&self, status: Option<SubscriptionStatus>) -> u64 {
        match status {
            None => self.active + self.error + self.paused,
            Some(SubscriptionStatus::Active) => self.active,
            Some(SubscriptionStatus::Error) => self.error,
            Some(SubscriptionStatus::Paused) => self.paused,
        }
    }
}

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

    /// The numbers of the subscriptions that [`list_subscriptions`](Self::list_subscriptions) lists, in one query.
    async fn count_subscriptions(&self, org: OrgId, agent: Option<AgentId>) -> Result<SubscriptionCounts, StoreError>;

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
