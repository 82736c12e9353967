//! Webhook endpoints, their queues and their deliveries.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use async_trait::async_trait;
use kalends_app::ports::CommitError;
use kalends_kernel::{DeliveryId, Listed, OrgId, Page, StoreError, WebhookId};
use kalends_notifications::{
    Change, Claim, Delivery, DeliveryStatus, Health, Listener, Message, Places, Queue, Record, Waiting,
    WebhookEndpoint, address, charged, least_delivery_id, over_quota,
    ports::{
        Backlog, Deliveries, DeliveryHistory, DeliveryQueue, DeliverySeen, DeliveryStats, DueDelivery, FannedOut,
        Webhooks,
    },
    skip,
};
use kalends_plans::Metric;
use kalends_quotas::Period;
use kalends_time::{CivilDate, Timestamp, Zone};

use super::{
    MemoryStore,
    account_data::remove,
    apply::{create, unchanged},
    state::{State, page_of},
};

impl State {
    pub(super) fn apply_to_webhooks(&mut self, change: &Change) -> Result<(), CommitError> {
        match change {
            Change::CreateEndpoint(endpoint) => {
                let key = (endpoint.org, endpoint.id);
                create(self.webhooks.entry(key), endpoint)?;
                create(self.queues.entry(key), &(Queue::EMPTY, Health::GOOD))?;
            }
            Change::UpdateEndpoint { endpoint, seen, heals } => {
                let key = (endpoint.org, endpoint.id);
                let row = self.webhooks.get_mut(&key).ok_or(CommitError::Stale)?;
                unchanged(row.version, *seen)?;
                WebhookEndpoint::clone_from(row, endpoint);
                if let Some((_, health)) = self.queues.get_mut(&key).filter(|_| *heals) {
                    *health = Health::GOOD;
                }
            }
            Change::DeleteEndpoint { org, webhook, seen } => {
                let row = self.webhooks.get(&(*org, *webhook)).ok_or(CommitError::Stale)?;
                unchanged(row.version, *seen)?;
                self.webhooks.remove(&(*org, *webhook));
                self.queues.remove(&(*org, *webhook));
            }
            Change::AddDelivery { message, delivery } => {
                if !self.webhooks.contains_key(&(delivery.org, delivery.webhook)) {
                    return Err(CommitError::Stale);
                }
                create(self.messages.entry((message.org, message.id)), message)?;
                create(self.deliveries.entry((delivery.org, delivery.webhook, delivery.id)), delivery)?;
            }
            Change::RetryDelivery { delivery, seen, at } => {
                let queue = self.queues.get_mut(&(delivery.org, delivery.webhook)).ok_or(CommitError::Stale)?;
                let row = self.deliveries.get_mut(&(delivery.org, delivery.webhook, delivery.id));
                let row = row.filter(|row| row.state == *seen).ok_or(CommitError::Stale)?;
                row.state = delivery.state;
                queue.0 = queue.0.wake(*at);
            }
            Change::Record(record) => self.record(record)?,
        }
        Ok(())
    }

    fn record(&mut self, record: &Record) -> Result<(), CommitError> {
        let key = (record.claim.org, record.claim.webhook);
        let (queue, health) = self.queues.get_mut(&key).ok_or(CommitError::Stale)?;
        *queue = queue.renew(record.claim.fence, record.at).map_err(|_| CommitError::Stale)?;
        *health = record.health.apply(*health);
        for entry in &record.recorded {
            if let Some(row) = self.deliveries.get_mut(&(key.0, key.1, entry.id))
                && (row.state.status, row.state.attempts) == (entry.seen.status, entry.seen.attempts)
            {
                row.state = entry.state;
            }
        }
        Ok(())
    }

    /// Stores a message if an endpoint listens for it.
    pub(super) fn announce(&mut self, message: &Message) -> Result<(), CommitError> {
        if self.webhooks.values().any(|endpoint| endpoint.org == message.org && endpoint.active) {
            create(self.messages.entry((message.org, message.id)), message)?;
            self.waiting.insert((message.org, message.id));
        }
        Ok(())
    }

    fn of_webhook(&self, org: OrgId, webhook: WebhookId) -> impl Iterator<Item = &Delivery> {
        self.deliveries.values().filter(move |delivery| (delivery.org, delivery.webhook) == (org, webhook))
    }

    fn next_attempt(&self, org: OrgId, webhook: WebhookId) -> Option<Timestamp> {
        self.of_webhook(org, webhook).filter_map(|delivery| delivery.state.next_attempt_at).min()
    }

    fn fan_out(&mut self, now: Timestamp, limit: u32) -> FannedOut {
        let mut waiting: Vec<_> = self.waiting.iter().filter_map(|key| self.messages.get(key)).collect();
        waiting.sort_by_key(|message| (message.created_at, message.id));
        waiting.truncate(limit as usize);
        let mut waiting: Vec<_> = waiting
            .iter()
            .map(|message| Waiting {
                created_at: message.created_at,
                org: message.org,
                id: message.id,
                event_type: message.event_type,
                about: message.about,
            })
            .collect();
        let listeners = self.webhooks.values().filter(|endpoint| endpoint.active);
        let listeners: Vec<_> = listeners
            .map(|endpoint| Listener {
                org: endpoint.org,
                id: endpoint.id,
                subscription: endpoint.subscription.clone(),
            })
            .collect();
        let found = waiting.len();
        let (mut deliveries, taken) = address(&waiting, &listeners, now);
        waiting.truncate(taken);
        let mut skipped = 0;
        for (org, charge) in charged(&deliveries) {
            let limits = self.organizations.get(&org).and_then(|organization| organization.limits().ok());
            let used = self.used.entry((org, Metric::WebhookDeliveries, Period::of(now))).or_default();
            *used += charge;
            let over = over_quota(*used, charge, limits.and_then(|limits| limits.get(Metric::WebhookDeliveries)));
            *used -= over;
            skip(&mut deliveries, org, over);
            skipped += over;
        }
        let addressed: BTreeSet<_> = deliveries.iter().map(|delivery| (delivery.org, delivery.webhook)).collect();
        for key in addressed {
            if let Some((queue, _)) = self.queues.get_mut(&key) {
                *queue = queue.wake(now);
            }
        }
        let queued = deliveries.len() as u64 - skipped;
        for delivery in deliveries {
            self.deliveries.insert((delivery.org, delivery.webhook, delivery.id), delivery);
        }
        for message in &waiting {
            self.waiting.remove(&(message.org, message.id));
        }
        let more = taken < found || found == limit as usize;
        FannedOut { messages: taken as u64, queued, skipped, more }
    }
}

#[async_trait]
impl Webhooks for MemoryStore {
    async fn find_webhook(&self, org: OrgId, webhook: WebhookId) -> Result<Option<WebhookEndpoint>, StoreError> {
        Ok(self.state().webhooks.get(&(org, webhook)).cloned())
    }

    async fn list_webhooks(&self, org: OrgId, page: Page) -> Result<Listed<WebhookEndpoint>, StoreError> {
        let state = self.state();
        let own = state.webhooks.values().filter(|endpoint| endpoint.org == org);
        Ok(page_of(own, |endpoint| (endpoint.created_at, endpoint.id), page))
    }
}

#[async_trait]
impl Deliveries for MemoryStore {
    async fn list_deliveries(
        &self,
        org: OrgId,
        webhook: WebhookId,
        status: Option<DeliveryStatus>,
        payloads: bool,
        page: Page,
    ) -> Result<Vec<DeliverySeen>, StoreError> {
        let state = self.state();
        let matching = state
            .of_webhook(org, webhook)
            .filter(|delivery| status.is_none_or(|status| delivery.state.status == status));
        let page = page_of(matching, |delivery| delivery.id, page);
        let seen = page.data.into_iter().map(|delivery| {
            let message = state.messages.get(&(org, delivery.message)).filter(|_| payloads);
            DeliverySeen { delivery, payload: message.map(|message| message.payload.clone()) }
        });
        Ok(seen.collect())
    }

    async fn delivery_stats(&self, org: OrgId, webhook: WebhookId) -> Result<DeliveryStats, StoreError> {
        let state = self.state();
        let mut stats = DeliveryStats::default();
        for status in DeliveryStatus::ALL {
            let count = state.of_webhook(org, webhook).filter(|delivery| delivery.state.status == status).count();
            stats.set(status, count as u64);
        }
        Ok(stats)
    }

    async fn find_delivery(
        &self,
        org: OrgId,
        webhook: WebhookId,
        delivery: DeliveryId,
        now: Timestamp,
    ) -> Result<Option<(Delivery, bool)>, StoreError> {
        let state = self.state();
        let Some((queue, _)) = state.queues.get(&(org, webhook)) else { return Ok(None) };
        let served = queue.is_served(now);
        Ok(state.deliveries.get(&(org, webhook, delivery)).map(|delivery| (*delivery, served)))
    }

    async fn forget_deliveries(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        Ok(self.write(|state| remove!(state.deliveries, limit, |(_, delivery)| delivery.created_at < before)))
    }

    async fn forget_messages(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        Ok(self.write(|state| {
            let forgotten = remove!(state.messages, limit, |(_, message)| message.created_at < before);
            let kept = &state.messages;
            state.waiting.retain(|key| kept.contains_key(key));
            forgotten
        }))
    }
}

#[async_trait]
impl DeliveryHistory for MemoryStore {
    async fn newest_deliveries(
        &self,
        org: OrgId,
        webhook: WebhookId,
        status: Option<DeliveryStatus>,
        page: Page,
    ) -> Result<Vec<Delivery>, StoreError> {
        let state = self.state();
        let matching = state
            .of_webhook(org, webhook)
            .filter(|delivery| status.is_none_or(|status| delivery.state.status == status));
        Ok(page_of(matching, |delivery| Reverse(delivery.id), page).data)
    }

    async fn delivery_days(
        &self,
        org: OrgId,
        webhook: WebhookId,
        since: Timestamp,
        limit: u32,
    ) -> Result<BTreeMap<CivilDate, DeliveryStats>, StoreError> {
        let state = self.state();
        let first = least_delivery_id(since);
        let mut newest: Vec<_> = state.of_webhook(org, webhook).filter(|delivery| delivery.id >= first).collect();
        newest.sort_by_key(|delivery| Reverse(delivery.id));
        newest.truncate(limit as usize);
        let mut days = BTreeMap::<_, DeliveryStats>::new();
        for delivery in newest {
            let status = delivery.state.status;
            let stats = days.entry(Zone::UTC.to_civil(delivery.created_at).date).or_default();
            stats.set(status, stats.of(Some(status)) + 1);
        }
        Ok(days)
    }

    async fn delivery_payload(&self, delivery: &Delivery) -> Result<Option<String>, StoreError> {
        let state = self.state();
        Ok(state.messages.get(&(delivery.org, delivery.message)).map(|message| message.payload.clone()))
    }
}

#[async_trait]
impl DeliveryQueue for MemoryStore {
    async fn fan_out(&self, now: Timestamp, limit: u32) -> Result<FannedOut, StoreError> {
        Ok(self.write(|state| state.fan_out(now, limit)))
    }

    async fn claim_webhooks(&self, now: Timestamp, places: Places) -> Result<Vec<Claim>, StoreError> {
        Ok(self.write(|state| {
            let mut due: Vec<_> =
                state.queues.iter().filter_map(|(key, (queue, _))| Some((queue.due_at?, *key))).collect();
            due.sort_unstable();
            let (mut claims, mut left) = (Vec::new(), places);
            for (_, (org, webhook)) in due {
                let Some((queue, health)) = state.queues.get_mut(&(org, webhook)) else { continue };
                let failing = *health != Health::GOOD;
                let left = if failing { &mut left.failing } else { &mut left.sound };
                let Some(claimed) = queue.claim(now).filter(|_| *left > 0) else { continue };
                *left -= 1;
                *queue = claimed;
                claims.push(Claim { org, webhook, fence: claimed.fence, failing });
            }
            claims
        }))
    }

    async fn due_deliveries(&self, claim: Claim, now: Timestamp, limit: u32) -> Result<Vec<DueDelivery>, StoreError> {
        let state = self.state();
        let mut due: Vec<_> =
            state.of_webhook(claim.org, claim.webhook).filter(|delivery| delivery.state.is_due(now)).copied().collect();
        due.sort_by_key(|delivery| (delivery.state.next_attempt_at, delivery.id));
        due.truncate(limit as usize);
        let with = |delivery: Delivery| DueDelivery {
            delivery,
            message: state.messages.get(&(delivery.org, delivery.message)).cloned(),
        };
        Ok(due.into_iter().map(with).collect())
    }

    async fn release_webhook(&self, claim: Claim) -> Result<(), StoreError> {
        self.write(|state| {
            let next = state.next_attempt(claim.org, claim.webhook);
            if let Some((queue, _)) = state.queues.get_mut(&(claim.org, claim.webhook))
                && let Ok(released) = queue.release(claim.fence, next)
            {
                *queue = released;
            }
        });
        Ok(())
    }

    async fn failing_since(&self, org: OrgId, webhook: WebhookId) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.state().queues.get(&(org, webhook)).and_then(|(_, health)| health.failing_since))
    }

    async fn backlog(&self, now: Timestamp) -> Result<Backlog, StoreError> {
        let state = self.state();
        let pending = state.deliveries.values().filter(|delivery| delivery.state.status == DeliveryStatus::Pending);
        let due = state.queues.values().filter_map(|(queue, _)| queue.due_at.filter(|due| *due <= now));
        Ok(Backlog { waiting: state.waiting.len() as u64, pending: pending.count() as u64, oldest_due: due.min() })
    }
}
