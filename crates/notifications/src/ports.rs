//! The ports that stores implement for webhooks and letters.

use std::collections::BTreeMap;

use async_trait::async_trait;
use kalends_kernel::{DeliveryId, LetterId, Listed, OrgId, Page, StoreError, WebhookId};
use kalends_time::{CivilDate, Timestamp};

use crate::{
    Claim, ClaimedLetter, Delivery, DeliveryStatus, FailedLetter, FeedPosition, FeedRead, Fence, LetterRecord,
    LetterWork, Message, Places, RecordSearch, WantedTypes, WebhookEndpoint,
};

/// Reads endpoints.
#[async_trait]
pub trait Webhooks: Send + Sync {
    /// One endpoint.
    async fn find_webhook(&self, org: OrgId, webhook: WebhookId) -> Result<Option<WebhookEndpoint>, StoreError>;

    /// The organization's endpoints, ordered by creation, then identifier.
    async fn list_webhooks(&self, org: OrgId, page: Page) -> Result<Listed<WebhookEndpoint>, StoreError>;
}

/// A delivery as a caller sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliverySeen {
    /// The delivery.
    pub delivery: Delivery,
    /// The JSON text that was sent, if it was asked for and is still kept.
    pub payload: Option<String>,
}

/// The number of kept deliveries of an endpoint, by status.
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

    /// The count of a status, or the total.
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

/// Reads deliveries, and removes old ones.
#[async_trait]
pub trait Deliveries: Send + Sync {
    /// The deliveries of an endpoint by identifier, which is the order of their messages' times. If a status is given,
    /// only those with that status. Their payloads are included if asked for.
    async fn list_deliveries(
        &self,
        org: OrgId,
        webhook: WebhookId,
        status: Option<DeliveryStatus>,
        payloads: bool,
        page: Page,
    ) -> Result<Vec<DeliverySeen>, StoreError>;

    /// The number of deliveries by status.
    async fn delivery_stats(&self, org: OrgId, webhook: WebhookId) -> Result<DeliveryStats, StoreError>;

    /// One delivery, and whether a worker serves its endpoint at `now`.
    async fn find_delivery(
        &self,
        org: OrgId,
        webhook: WebhookId,
        delivery: DeliveryId,
        now: Timestamp,
    ) -> Result<Option<(Delivery, bool)>, StoreError>;

    /// Removes up to `limit` deliveries created before `before`, whatever their status, and returns how many.
    async fn forget_deliveries(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Removes up to `limit` messages created before `before`, and returns how many.
    async fn forget_messages(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;
}

/// Reads what people look at to find out how an endpoint fares.
#[async_trait]
pub trait DeliveryHistory: Send + Sync {
    /// The deliveries of an endpoint, the newest message first. If a status is given, only those with that status.
    async fn newest_deliveries(
        &self,
        org: OrgId,
        webhook: WebhookId,
        status: Option<DeliveryStatus>,
        page: Page,
    ) -> Result<Vec<Delivery>, StoreError>;

    /// Counts the newest `limit` deliveries of an endpoint whose messages are not older than `since`, by the UTC day on
    /// which they were addressed and by status. A day without deliveries is left out.
    async fn delivery_days(
        &self,
        org: OrgId,
        webhook: WebhookId,
        since: Timestamp,
        limit: u32,
    ) -> Result<BTreeMap<CivilDate, DeliveryStats>, StoreError>;

    /// The JSON text that the delivery sends, if it is still kept.
    async fn delivery_payload(&self, delivery: &Delivery) -> Result<Option<String>, StoreError>;
}

/// The result of addressing a batch of messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FannedOut {
    /// The number of messages that were taken.
    pub messages: u64,
    /// The number of deliveries that are to be sent.
    pub queued: u64,
    /// The number of deliveries over the quota.
    pub skipped: u64,
    /// Whether more messages may be waiting, so that another call is worthwhile.
    pub more: bool,
}

/// A delivery that is due, with its message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueDelivery {
    /// The delivery.
    pub delivery: Delivery,
    /// Its message; `None` if the message is lost, so that nothing can be sent.
    pub message: Option<Message>,
}

/// The lengths of the queues.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Backlog {
    /// The number of messages that wait to be addressed, counted up to 10,000.
    pub waiting: u64,
    /// The number of deliveries to be sent, now or later, counted up to 100,000.
    pub pending: u64,
    /// When the oldest due delivery became due.
    pub oldest_due: Option<Timestamp>,
}

/// The work of sending: from the outbox to the queues of endpoints, and from there to receivers.
#[async_trait]
pub trait DeliveryQueue: Send + Sync {
    /// Addresses up to `limit` waiting messages in one transaction: each message once, however many workers call this
    /// at the same time. Writes deliveries ([`crate::address`]), charges them to the month of `now` within the limits
    /// of their organizations, and wakes the queues of endpoints.
    async fn fan_out(&self, now: Timestamp, limit: u32) -> Result<FannedOut, StoreError>;

    /// Claims endpoints that are due, up to the number of places, the longest waiting of each kind first
    /// ([`crate::Queue::claim`]).
    async fn claim_webhooks(&self, now: Timestamp, places: Places) -> Result<Vec<Claim>, StoreError>;

    /// Up to `limit` deliveries of an endpoint that are due at `now`, in the order in which they became due.
    async fn due_deliveries(&self, claim: Claim, now: Timestamp, limit: u32) -> Result<Vec<DueDelivery>, StoreError>;

    /// Gives up a claim. The endpoint is due again at the earliest attempt of its pending deliveries. A delivery that
    /// is added at the same moment is either found by this call, or wakes the queue after it. If the claim is lost,
    /// nothing changes.
    async fn release_webhook(&self, claim: Claim) -> Result<(), StoreError>;

    /// When the endpoint's uninterrupted failures began; `None` if its last attempt was a success.
    async fn failing_since(&self, org: OrgId, webhook: WebhookId) -> Result<Option<Timestamp>, StoreError>;

    /// The lengths of the queues at `now`.
    async fn backlog(&self, now: Timestamp) -> Result<Backlog, StoreError>;
}

/// The work of sending letters to people outside an organization.
#[async_trait]
pub trait Letters: Send + Sync {
    /// Claims up to `limit` letters that are due at `now`, the longest waiting first, each for
    /// [`LETTER_CLAIM_LASTS`](crate::LETTER_CLAIM_LASTS). However many workers call this at the same time, only one of
    /// them gets each letter. A letter waits while an older one to the same recipient about the same event has not been
    /// tried yet, or is being sent, so that no older one arrives last. A letter that cannot be read is logged, stays
    /// claimed, and does not hold up the others.
    async fn claim_letters(&self, now: Timestamp, limit: u32) -> Result<Vec<ClaimedLetter>, StoreError>;

    /// Records the work on a letter under the number of its claim. [`LetterEnd::Sent`](crate::LetterEnd::Sent) also
    /// removes older letters to the same recipient about the same event. A claim that another worker has taken over
    /// records nothing.
    async fn end_letter(&self, org: OrgId, letter: LetterId, fence: Fence, work: &LetterWork)
    -> Result<(), StoreError>;

    /// A page of the records of an organization's letters, the newest letter first.
    async fn letter_records(&self, org: OrgId, search: RecordSearch) -> Result<Vec<LetterRecord>, StoreError>;

    /// Up to `limit` of the newest `among` letters of all organizations that have failed
    /// ([`LetterRecord::has_failed`]), the newest first. Only the newest `of_each` of each organization are returned.
    async fn failed_letters(&self, limit: u32, of_each: u32, among: u32) -> Result<Vec<FailedLetter>, StoreError>;

    /// Counts the newest `limit` letters that have failed and were written at `since` or later, by the UTC day on which
    /// they were written. A day without any is left out.
    async fn failed_letters_by_day(&self, since: Timestamp, limit: u32)
    -> Result<BTreeMap<CivilDate, u64>, StoreError>;

    /// Removes up to `limit` records of letters that were written before `before`, and returns how many.
    async fn forget_letter_records(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;
}

/// The change feeds of organizations. Commits add the entries.
#[async_trait]
pub trait ChangeFeeds: Send + Sync {
    /// Starts the feed of an organization at `now`, or notes that it was read, and returns its end. Every change that
    /// is committed after this returns has an entry. `None` if the organization does not exist.
    async fn start_feed(&self, org: OrgId, now: Timestamp) -> Result<Option<FeedPosition>, StoreError>;

    /// Up to `limit` entries of the wanted types after `after`, among the next
    /// [`ENTRIES_LOOKED_AT`](crate::ENTRIES_LOOKED_AT), together with the head, in one snapshot. `None` if the feed is
    /// not started.
    async fn read_changes(
        &self,
        org: OrgId,
        after: FeedPosition,
        types: &WantedTypes,
        limit: u32,
    ) -> Result<Option<FeedRead>, StoreError>;

    /// The ends of the feeds of these organizations. Feeds that are not started are left out. At most a few hundred
    /// organizations are asked for at once.
    async fn feed_ends(&self, orgs: &[OrgId]) -> Result<Vec<(OrgId, FeedPosition)>, StoreError>;

    /// Removes up to about `limit` entries written before `before`, the oldest first, and returns how many. The heads
    /// say so before the entries are gone.
    async fn forget_changes(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Ends up to `limit` feeds that nobody has read since `before`, and returns how many. Their entries stay until
    /// they are old.
    async fn end_unread_feeds(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;
}
