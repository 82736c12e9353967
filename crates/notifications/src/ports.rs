//! What stores offer for webhooks.

use async_trait::async_trait;
use kalends_kernel::{DeliveryId, LetterId, Listed, OrgId, Page, StoreError, Timestamp, WebhookId};

use crate::{Claim, ClaimedLetter, Delivery, DeliveryStatus, Fence, LetterEnd, Message, Places, WebhookEndpoint};

/// Reads endpoints.
#[async_trait]
pub trait Webhooks: Send + Sync {
    /// One endpoint.
    async fn find_webhook(&self, org: OrgId, webhook: WebhookId) -> Result<Option<WebhookEndpoint>, StoreError>;

    /// The organization's endpoints by creation, then identifier.
    async fn list_webhooks(&self, org: OrgId, page: Page) -> Result<Listed<WebhookEndpoint>, StoreError>;
}

/// A delivery as a caller sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliverySeen {
    /// The delivery.
    pub delivery: Delivery,
    /// What was sent, where it was asked for and is still kept: JSON text.
    pub payload: Option<String>,
}

/// How many deliveries of an endpoint stand how, of those that are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeliveryStats {
    /// To be sent, or sent again.
    pub pending: u64,
    /// Received.
    pub delivered: u64,
    /// Given up.
    pub failed: u64,
    /// Never sent.
    pub skipped: u64,
}

impl DeliveryStats {
    /// Sets the count of a status.
    pub const fn set(&mut self, status: DeliveryStatus, count: u64) {
        match status {
            DeliveryStatus::Pending => self.pending = count,
            DeliveryStatus::Delivered => self.delivered = count,
            DeliveryStatus::Failed => self.failed = count,
            DeliveryStatus::Skipped => self.skipped = count,
        }
    }

    /// The count of a status, or of all.
    pub const fn of(&self, status: Option<DeliveryStatus>) -> u64 {
        match status {
            None => self.pending + self.delivered + self.failed + self.skipped,
            Some(DeliveryStatus::Pending) => self.pending,
            Some(DeliveryStatus::Delivered) => self.delivered,
            Some(DeliveryStatus::Failed) => self.failed,
            Some(DeliveryStatus::Skipped) => self.skipped,
        }
    }
}

/// Reads deliveries, and forgets them in time.
#[async_trait]
pub trait Deliveries: Send + Sync {
    /// The deliveries of an endpoint by identifier, which is by the time of their message, those of one status where
    /// it is given; with their payloads where asked for.
    async fn list_deliveries(
        &self,
        org: OrgId,
        webhook: WebhookId,
        status: Option<DeliveryStatus>,
        payloads: bool,
        page: Page,
    ) -> Result<Vec<DeliverySeen>, StoreError>;

    /// How many stand how.
    async fn delivery_stats(&self, org: OrgId, webhook: WebhookId) -> Result<DeliveryStats, StoreError>;

    /// One delivery, and whether a worker serves its endpoint at `now`.
    async fn find_delivery(
        &self,
        org: OrgId,
        webhook: WebhookId,
        delivery: DeliveryId,
        now: Timestamp,
    ) -> Result<Option<(Delivery, bool)>, StoreError>;

    /// Removes up to `limit` deliveries made before an instant, whatever became of them, and says how many.
    async fn forget_deliveries(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Removes up to `limit` messages made before an instant, and says how many.
    async fn forget_messages(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;
}

/// What addressing a batch of messages came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FannedOut {
    /// How many messages were taken.
    pub messages: u64,
    /// How many deliveries are to be sent.
    pub queued: u64,
    /// How many were over the quota.
    pub skipped: u64,
    /// Whether messages are left that could have been taken.
    pub more: bool,
}

/// A delivery that is due, with what is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueDelivery {
    /// The delivery.
    pub delivery: Delivery,
    /// Its message; `None` where that is lost, so that nothing can be sent.
    pub message: Option<Message>,
}

/// How long the queues are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Backlog {
    /// How many messages wait to be addressed, counted up to 10,000.
    pub waiting: u64,
    /// How many deliveries are to be sent, now or later, counted up to 100,000.
    pub pending: u64,
    /// Since when the oldest that is due waits.
    pub oldest_due: Option<Timestamp>,
}

/// The work of sending: from the outbox to the queues of endpoints, and from there to receivers.
#[async_trait]
pub trait DeliveryQueue: Send + Sync {
    /// Addresses up to `limit` messages that wait, in one transaction: each message once, whatever number of workers
    /// call this at once. Writes deliveries ([`crate::address`]), charges them to the month of `now` within the limits
    /// of their organizations, and wakes the queues of endpoints.
    async fn fan_out(&self, now: Timestamp, limit: u32) -> Result<FannedOut, StoreError>;

    /// Claims endpoints that are due, as many as there are places, of each kind those that have waited longest first
    /// ([`crate::Queue::claim`]).
    async fn claim_webhooks(&self, now: Timestamp, places: Places) -> Result<Vec<Claim>, StoreError>;

    /// Up to `limit` deliveries of an endpoint that are due at `now`, by when they were due.
    async fn due_deliveries(&self, claim: Claim, now: Timestamp, limit: u32) -> Result<Vec<DueDelivery>, StoreError>;

    /// Gives a claim up; the endpoint is due again at the earliest attempt of what is pending. What is addressed to it
    /// at the same moment is found by this, or wakes the queue after it. A claim that is lost stays lost.
    async fn release_webhook(&self, claim: Claim) -> Result<(), StoreError>;

    /// Since when the endpoint does nothing but fail; `None` where its last attempt was a success.
    async fn failing_since(&self, org: OrgId, webhook: WebhookId) -> Result<Option<Timestamp>, StoreError>;

    /// How long the queues are at `now`.
    async fn backlog(&self, now: Timestamp) -> Result<Backlog, StoreError>;
}

/// The work of sending letters to people outside.
#[async_trait]
pub trait Letters: Send + Sync {
    /// Claims up to `limit` letters that are due at `now`, those that have waited longest first, each for
    /// [`LETTER_CLAIM_LASTS`](crate::LETTER_CLAIM_LASTS): whatever number of workers call this at once, one gets it. A letter
    /// that cannot be read is logged and stays claimed, and keeps no other back.
    async fn claim_letters(&self, now: Timestamp, limit: u32) -> Result<Vec<ClaimedLetter>, StoreError>;

    /// Records what became of a letter under the number of its claim, and with [`LetterEnd::Sent`] removes older letters to
    /// the same recipient about the same event. A claim that another worker has taken over records nothing.
    async fn end_letter(&self, org: OrgId, letter: LetterId, fence: Fence, end: LetterEnd) -> Result<(), StoreError>;
}
