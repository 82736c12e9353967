//! Addresses waiting messages to webhook endpoints: the rows, and the steps that both stores take in the same order.

use std::collections::BTreeSet;

use kalends_accounts::Organization;
use kalends_kernel::{MessageId, OrgId, StoreError, WebhookId};
use kalends_notifications::{
    Delivery, EventType, Listener, Subscription, Waiting, address, charged, over_quota, ports::FannedOut, skip,
};
use kalends_plans::Metric;
use kalends_quotas::Period;
use kalends_time::Timestamp;

use crate::{Key, Located, row_id};

columns! {
    /// The columns of a message that is not addressed yet.
    pub struct WaitingRow<K> {
        created_at: i64,
        org_id: K,
        id: K,
        event_type: String,
        about: Option<K>,
    }
}

impl<K: Key> WaitingRow<K> {
    /// The message, or an error that names the corrupt column.
    pub fn into_domain(self) -> Result<Waiting, StoreError> {
        let id = MessageId::from_uuid(row_id("waiting_messages", "id", &self.id)?);
        let row = Located { table: "waiting_messages", id };
        Ok(Waiting {
            created_at: Timestamp::from_micros(self.created_at),
            org: OrgId::from_uuid(row.uuid("org_id", &self.org_id)?),
            id,
            event_type: row.named("event_type", &self.event_type, EventType::from_stored)?,
            about: row.uuid_if_any("about", self.about.as_ref())?.map(WebhookId::from_uuid),
        })
    }
}

columns! {
    /// The columns of an endpoint that determine what it listens for.
    pub struct ListenerRow<K> {
        org_id: K,
        id: K,
        events: String,
    }
}

impl<K: Key> ListenerRow<K> {
    /// The endpoint, or an error that names the corrupt column.
    pub fn into_domain(self) -> Result<Listener, StoreError> {
        let id = WebhookId::from_uuid(row_id("webhooks", "id", &self.id)?);
        let row = Located { table: "webhooks", id };
        Ok(Listener {
            org: OrgId::from_uuid(row.uuid("org_id", &self.org_id)?),
            id,
            subscription: row.named("events", &self.events, Subscription::from_json)?,
        })
    }
}

/// The statements of a transaction that addresses messages.
pub trait FanOut: Send {
    /// Why a statement failed.
    type Error: From<StoreError> + Send;

    /// At most `limit` messages that no other transaction is addressing, the oldest first.
    fn waiting(&mut self, limit: u32) -> impl Future<Output = Result<Vec<Waiting>, Self::Error>> + Send;

    /// The active endpoints of the organizations.
    fn listeners(
        &mut self,
        organizations: &BTreeSet<OrgId>,
    ) -> impl Future<Output = Result<Vec<Listener>, Self::Error>> + Send;

    /// Wakes the queues of endpoints that have new deliveries ([`kalends_notifications::Queue::wake`]).
    fn wake(
        &mut self,
        queues: &BTreeSet<(OrgId, WebhookId)>,
        now: Timestamp,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// The organization, unless it has just been deleted.
    fn organization(&mut self, org: OrgId) -> impl Future<Output = Result<Option<Organization>, Self::Error>> + Send;

    /// Adds deliveries to the organization's counter of `period`, and returns the new count.
    fn charge(
        &mut self,
        org: OrgId,
        period: Period,
        deliveries: u64,
    ) -> impl Future<Output = Result<u64, Self::Error>> + Send;

    /// Subtracts deliveries over the quota from that counter.
    fn refund(
        &mut self,
        org: OrgId,
        period: Period,
        deliveries: u64,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Stores new deliveries.
    fn add(&mut self, deliveries: &[Delivery]) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Removes addressed messages from those that wait.
    fn remove(&mut self, addressed: &[Waiting]) -> impl Future<Output = Result<(), Self::Error>> + Send;
}

/// Addresses at most `limit` waiting messages.
pub async fn fan_out<S: FanOut>(statements: &mut S, now: Timestamp, limit: u32) -> Result<FannedOut, S::Error> {
    let mut waiting = statements.waiting(limit).await?;
    if waiting.is_empty() {
        return Ok(FannedOut::default());
    }
    let organizations: BTreeSet<OrgId> = waiting.iter().map(|message| message.org).collect();
    let listeners = statements.listeners(&organizations).await?;
    let found = waiting.len();
    let (mut deliveries, taken) = address(&waiting, &listeners, now);
    waiting.truncate(taken);
    let queues = deliveries.iter().map(|delivery| (delivery.org, delivery.webhook)).collect();
    statements.wake(&queues, now).await?;
    let mut skipped = 0;
    for (org, charge) in charged(&deliveries) {
        let over = charge_within(statements, org, charge, Period::of(now)).await?;
        skip(&mut deliveries, org, over);
        skipped += over;
    }
    statements.add(&deliveries).await?;
    statements.remove(&waiting).await?;
    let queued = (deliveries.len() as u64).saturating_sub(skipped);
    let more = taken < found || found == limit as usize;
    Ok(FannedOut { messages: taken as u64, queued, skipped, more })
}

/// Charges an organization up to its limit, and returns how much was over the limit and is not charged.
async fn charge_within<S: FanOut>(
    statements: &mut S,
    org: OrgId,
    charge: u64,
    period: Period,
) -> Result<u64, S::Error> {
    let limit = match statements.organization(org).await? {
        Some(organization) => {
            let row = Located { table: "organizations", id: org };
            row.read("limit_overrides", organization.limits())?.get(Metric::WebhookDeliveries)
        }
        // The organization has just been deleted, and its deliveries are removed.
        None => Some(0),
    };
    let used = statements.charge(org, period, charge).await?;
    let over = over_quota(used, charge, limit);
    if over > 0 {
        statements.refund(org, period, over).await?;
    }
    Ok(over)
}
