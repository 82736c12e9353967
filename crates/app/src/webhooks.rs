//! Webhook endpoints and their deliveries, from the callers' side. `sending` delivers the messages.

use std::time::Duration;

use kalends_kernel::{DeliveryId, Listed, MessageId, Page, WebhookId};
use kalends_notifications::{
    Change, Delivery, DeliveryState, DeliveryStatus, EndpointPatch, EventType, Message, NewEndpoint, WebhookEndpoint,
    ports::{DeliverySeen, DeliveryStats},
};
use kalends_plans::Metric;
use kalends_quotas::{Debit, Period};
use kalends_time::{CivilDate, SignedDuration, Timestamp, Zone};
use kalends_wire as wire;

use crate::{
    Actor, Answered, App, ChangeSet, IfMatch, Missing, Refusal, answered::json, attempt::retry_stale, commits::limit,
    ports::Debited,
};

/// The number of days of [`DeliveryDays`], including today.
const DAYS: i64 = 7;
/// The number of deliveries that [`DeliveryDays`] counts at most, so that a busy endpoint does not slow down its page.
const COUNTED: u32 = 10_000;

/// The deliveries of an endpoint over the last days.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryDays {
    /// Each day in UTC, the oldest first, with the deliveries that were addressed on it.
    pub days: Vec<(CivilDate, DeliveryStats)>,
    /// The number of deliveries that were counted at most, if there may be more. The newest ones are counted.
    pub newest: Option<u32>,
}

impl App {
    /// Whether the operator allows connections to that host and port even if the address is private.
    pub fn may_reach(&self, host: &str, port: u16) -> bool {
        self.parts.sender.exempts(host, port)
    }

    /// Creates an endpoint. Its secret is only shown in this answer.
    ///
    /// # Errors
    /// [`Refusal::LimitReached`] at the plan's number of endpoints.
    pub async fn create_webhook(&self, actor: &Actor, new: NewEndpoint) -> Result<Answered<wire::NewWebhook>, Refusal> {
        actor.for_organization()?;
        retry_stale(|| async {
            let now = self.now();
            let endpoint = WebhookEndpoint::create(actor.org(), new.clone(), now, self.entropy());
            let mut changes = ChangeSet::new(actor.org());
            limit(actor, &mut changes, Metric::WebhookEndpoints, 1, now);
            let answer = Answered::shows(&actor.request, wire::NewWebhook::from(&endpoint), Some(endpoint.version));
            let id = endpoint.id.to_string();
            changes.webhooks.push(Change::CreateEndpoint(Box::new(endpoint)));
            self.commit_for(actor, None, id, changes, answer).await
        })
        .await
    }

    /// The organization's endpoints, the oldest first.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for an agent's key.
    pub async fn list_webhooks(&self, actor: &Actor, page: Page) -> Result<Listed<WebhookEndpoint>, Refusal> {
        actor.for_organization()?;
        Ok(self.parts.store.list_webhooks(actor.org(), page).await?)
    }

    /// One endpoint.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn webhook(&self, actor: &Actor, id: &str) -> Result<WebhookEndpoint, Refusal> {
        actor.for_organization()?;
        let missing = || Refusal::missing(Missing::Webhook, id);
        let webhook: WebhookId = id.parse().map_err(|_| missing())?;
        self.parts.store.find_webhook(actor.org(), webhook).await?.ok_or_else(missing)
    }

    /// Changes an endpoint. If it gets a new address or is switched on, earlier failures no longer count.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::Stale`].
    pub async fn update_webhook(
        &self,
        actor: &Actor,
        id: &str,
        patch: EndpointPatch,
        if_match: &IfMatch,
    ) -> Result<Answered<wire::Webhook>, Refusal> {
        retry_stale(|| async {
            let seen = self.webhook(actor, id).await?;
            if_match.check(seen.version)?;
            let heals = patch.heals();
            let endpoint = seen.patched(patch.clone(), self.now());
            let answer = Answered::shows(&actor.request, wire::Webhook::from(&endpoint), Some(endpoint.version));
            let mut changes = ChangeSet::new(actor.org());
            let id = endpoint.id.to_string();
            changes.webhooks.push(Change::UpdateEndpoint { endpoint: Box::new(endpoint), seen: seen.version, heals });
            self.commit_for(actor, None, id, changes, answer).await
        })
        .await
    }

    /// Deletes an endpoint. A delivery in flight may still arrive; nothing else does.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::Stale`].
    pub async fn delete_webhook(&self, actor: &Actor, id: &str, if_match: &IfMatch) -> Result<Answered<()>, Refusal> {
        retry_stale(|| async {
            let seen = self.webhook(actor, id).await?;
            if_match.check(seen.version)?;
            let mut changes = ChangeSet::new(actor.org());
            let (org, webhook, seen) = (actor.org(), seen.id, seen.version);
            changes.webhooks.push(Change::DeleteEndpoint { org, webhook, seen });
            self.commit_for(actor, None, webhook.to_string(), changes, Answered::nothing(&actor.request)).await
        })
        .await
    }

    /// Gives an endpoint a new secret, which is only shown in this answer. For one more day, messages are also signed
    /// with the previous secret.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn rotate_webhook_secret(
        &self,
        actor: &Actor,
        id: &str,
    ) -> Result<Answered<wire::WebhookSecret>, Refusal> {
        retry_stale(|| async {
            let seen = self.webhook(actor, id).await?;
            let endpoint = seen.rotated(self.now(), self.entropy());
            let answer = Answered::shows(&actor.request, wire::WebhookSecret::from(&endpoint), Some(endpoint.version));
            let mut changes = ChangeSet::new(actor.org());
            let id = endpoint.id.to_string();
            let (endpoint, seen, heals) = (Box::new(endpoint), seen.version, false);
            changes.webhooks.push(Change::UpdateEndpoint { endpoint, seen, heals });
            self.commit_for(actor, None, id, changes, answer).await
        })
        .await
    }

    /// Sends a test message to an endpoint, even if the endpoint is switched off, and returns the result. The delivery
    /// is tried once, and kept and charged like any other, but it does not affect the endpoint's health.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::LimitReached`].
    pub async fn test_webhook(&self, actor: &Actor, id: &str) -> Result<Answered<wire::TestedDelivery>, Refusal> {
        let endpoint = self.webhook(actor, id).await?;
        let now = self.now();
        self.charge_delivery(actor).await?;
        let message = Message {
            id: MessageId::new(now, self.entropy()),
            org: actor.org(),
            event_type: EventType::WebhookTest,
            payload: json(&wire::Webhook::from(&endpoint)),
            resource_version: endpoint.version,
            about: None,
            created_at: now,
        };
        let what = (message.id, message.event_type);
        let sent = Delivery::new(actor.org(), endpoint.id, what, DeliveryState::queued(now), now);
        let attempt = self.attempt(&endpoint, &sent, message.clone()).await;
        let delivery = Delivery { state: DeliveryState::tried_once(attempt.reply.outcome, self.now()), ..sent };
        tracing::info!(
            webhook = %endpoint.id,
            delivery = %delivery.id,
            request_id = %actor.request.id,
            outcome = attempt.reply.outcome.as_str(),
            "a webhook was tested"
        );
        let body = wire::TestedDelivery {
            delivery: delivery.into(),
            duration_ms: milliseconds(attempt.took),
            error: attempt.reply.problem,
        };
        let mut changes = ChangeSet::new(actor.org());
        changes.webhooks.push(Change::AddDelivery { message: Box::new(message), delivery: Box::new(delivery) });
        let id = endpoint.id.to_string();
        let committed =
            self.commit_for(actor, None, id.clone(), changes, Answered::shows(&actor.request, body, None)).await;
        committed.map_err(|attempt| match attempt {
            // The endpoint was deleted during the test.
            crate::attempt::Attempt::Stale => Refusal::missing(Missing::Webhook, &id),
            crate::attempt::Attempt::Refused(refusal) => refusal,
        })
    }

    /// Counts one delivery before it is sent.
    async fn charge_delivery(&self, actor: &Actor) -> Result<(), Refusal> {
        let (now, metric) = (self.now(), Metric::WebhookDeliveries);
        let limit = actor.limit(metric);
        let debit = Debit::one(Period::of(now), limit);
        match (self.parts.store.debit(actor.org(), metric, &debit).await?, limit) {
            (Debited::Refused { .. }, Some(limit)) => {
                let retry_after = Period::of(now).seconds_left(now);
                Err(Refusal::LimitReached { metric, limit, retry_after })
            }
            _ => Ok(()),
        }
    }

    /// The deliveries of an endpoint, the oldest message first.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn list_deliveries(
        &self,
        actor: &Actor,
        id: &str,
        (status, payloads, page): (Option<DeliveryStatus>, bool, Page),
    ) -> Result<wire::DeliveryList, Refusal> {
        let webhook = self.webhook(actor, id).await?.id;
        let stats = self.parts.store.delivery_stats(actor.org(), webhook).await?;
        let seen = self.parts.store.list_deliveries(actor.org(), webhook, status, payloads, page).await?;
        let shown = |seen: DeliverySeen| {
            if payloads { wire::Delivery::with_payload(seen) } else { seen.delivery.into() }
        };
        let total = stats.of(status);
        let (limit, has_more) = page.ended(seen.len(), total);
        Ok(wire::DeliveryList {
            data: seen.into_iter().map(shown).collect(),
            total,
            limit,
            offset: page.offset,
            has_more,
            stats: stats.into(),
        })
    }

    /// The deliveries of an endpoint, the newest message first, without payloads.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn newest_deliveries(
        &self,
        actor: &Actor,
        webhook: &WebhookEndpoint,
        status: Option<DeliveryStatus>,
        page: Page,
    ) -> Result<wire::DeliveryList, Refusal> {
        let stats = self.parts.store.delivery_stats(actor.org(), webhook.id).await?;
        let newest = self.parts.store.newest_deliveries(actor.org(), webhook.id, status, page).await?;
        Ok(wire::DeliveryList {
            data: newest.into_iter().map(Into::into).collect(),
            total: stats.of(status),
            limit: page.limit,
            offset: page.offset,
            has_more: None,
            stats: stats.into(),
        })
    }

    /// One delivery, with its payload.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn delivery(
        &self,
        actor: &Actor,
        webhook: &WebhookEndpoint,
        delivery: &str,
    ) -> Result<wire::Delivery, Refusal> {
        let missing = || Refusal::missing(Missing::Delivery, delivery);
        let wanted: DeliveryId = delivery.parse().map_err(|_| missing())?;
        let found = self.parts.store.find_delivery(actor.org(), webhook.id, wanted, self.now()).await?;
        let (found, _) = found.ok_or_else(missing)?;
        let payload = self.parts.store.delivery_payload(&found).await?;
        Ok(wire::Delivery::with_payload(DeliverySeen { delivery: found, payload }))
    }

    /// The numbers of an endpoint's deliveries over the last seven days, today included.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn delivery_days(&self, actor: &Actor, webhook: &WebhookEndpoint) -> Result<DeliveryDays, Refusal> {
        let first = Zone::UTC.to_civil(self.now()).date.plus_days(1 - DAYS);
        let since = Timestamp::from_micros(first.as_days() * SignedDuration::days(1).as_micros());
        let counted = self.parts.store.delivery_days(actor.org(), webhook.id, since, COUNTED).await?;
        let total: u64 = counted.values().map(|stats| stats.of(None)).sum();
        let dates = (0..DAYS).map(|after| first.plus_days(after));
        Ok(DeliveryDays {
            days: dates.map(|date| (date, counted.get(&date).copied().unwrap_or_default())).collect(),
            newest: (total >= u64::from(COUNTED)).then_some(COUNTED),
        })
    }

    /// Sends a delivery now, with its identifier unchanged. If this attempt fails, the rest of the schedule follows.
    /// A skipped delivery is charged now.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::WebhookInactive`]; [`Refusal::BeingSent`]; [`Refusal::LimitReached`].
    pub async fn retry_delivery(
        &self,
        actor: &Actor,
        id: &str,
        delivery: &str,
    ) -> Result<Answered<wire::Delivery>, Refusal> {
        retry_stale(|| async {
            let endpoint = self.webhook(actor, id).await?;
            let missing = || Refusal::missing(Missing::Delivery, delivery);
            let delivery_id: DeliveryId = delivery.parse().map_err(|_| missing())?;
            let now = self.now();
            let found = self.parts.store.find_delivery(actor.org(), endpoint.id, delivery_id, now).await?;
            let (seen, served) = found.ok_or_else(missing)?;
            if !endpoint.active {
                return Err(Refusal::WebhookInactive.into());
            }
            let again = Delivery { state: seen.state.retry(now, served).map_err(Refusal::from)?, ..seen };
            let mut changes = ChangeSet::new(actor.org());
            if seen.state.status == DeliveryStatus::Skipped {
                limit(actor, &mut changes, Metric::WebhookDeliveries, 1, now);
            }
            changes.webhooks.push(Change::RetryDelivery { delivery: Box::new(again), seen: seen.state, at: now });
            let answer = Answered::shows(&actor.request, wire::Delivery::from(again), None);
            self.commit_for(actor, None, endpoint.id.to_string(), changes, answer).await
        })
        .await
    }
}

/// Whole milliseconds.
fn milliseconds(took: Duration) -> u64 {
    u64::try_from(took.as_millis()).unwrap_or(u64::MAX)
}
