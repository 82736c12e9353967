//! Sending webhook messages from the outbox to their receivers: the use cases that the workers call.
//!
//! Messages are addressed in batches ([`App::fan_out_messages`]). This creates deliveries and wakes the queues of
//! their endpoints. A worker claims endpoints ([`App::claim_webhooks`]) and serves each in its own task, so that an
//! endpoint that hangs delays no other: it reads what is due ([`App::due_deliveries`]), sends it
//! ([`App::try_delivery`]) and records the outcomes ([`App::record_deliveries`]).

use std::{collections::HashSet, sync::Arc, time::Duration};

use bytes::Bytes;
use kalends_kernel::{DeliveryId, Foreign, StoreError, random_bytes};
use kalends_notifications::{
    Change, Claim, DELIVERIES_KEPT, Deactivation, Delivery, EventType, Health, HealthChange, MESSAGES_KEPT, Message,
    Outcome, Outgoing, Places, Record, Recorded, WebhookEndpoint, headers,
    ports::{Backlog, DueDelivery, FannedOut},
};
use kalends_time::Timestamp;
use kalends_wire as wire;

use crate::{
    App, ChangeSet, Refusal, letters,
    ports::{CommitError, Mail, WebhookPost, WebhookReply},
};

/// How many deliveries are abandoned at once.
const ABANDONED_AT_ONCE: u32 = 500;

/// The result of one attempt.
pub(crate) struct Attempted {
    pub(crate) reply: WebhookReply,
    pub(crate) took: Duration,
}

/// What is due at an endpoint.
#[derive(Debug)]
pub struct Due {
    /// The endpoint.
    pub endpoint: Arc<WebhookEndpoint>,
    /// The deliveries, in the order in which they fell due.
    pub deliveries: Vec<DueDelivery>,
}

/// A delivery that a worker has finished with for now.
#[derive(Debug)]
pub struct Tried {
    /// What is to be recorded.
    pub recorded: Recorded,
    /// The receiver's response; `None` if nothing was sent.
    pub outcome: Option<Outcome>,
    /// When the attempt ended.
    at: Timestamp,
    /// The endpoint as it was when the attempt began.
    endpoint: Arc<WebhookEndpoint>,
}

impl App {
    /// Waits until this process has committed a message.
    pub async fn nudged_to_fan_out(&self) {
        self.nudges.fan_out.notified().await;
    }

    /// Waits until this process has addressed a message, or a request retries a delivery.
    pub async fn nudged_to_send(&self) {
        self.nudges.send.notified().await;
    }

    /// Addresses up to `limit` messages.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn fan_out_messages(&self, limit: u32) -> Result<FannedOut, Refusal> {
        let fanned = self.parts.store.fan_out(self.now(), limit).await?;
        if fanned.queued > 0 {
            self.nudges.send.notify_one();
        }
        kalends_metrics::WEBHOOK_MESSAGES.inc_by(fanned.messages);
        kalends_metrics::WEBHOOK_SKIPPED.inc_by(fanned.skipped);
        Ok(fanned)
    }

    /// Claims due endpoints, up to the number of free places.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn claim_webhooks(&self, places: Places) -> Result<Vec<Claim>, Refusal> {
        Ok(self.parts.store.claim_webhooks(self.now(), places).await?)
    }

    /// Ends a claim whose work is done, so that the endpoint can be claimed again at once.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn release_webhook(&self, claim: Claim) -> Result<(), StoreError> {
        self.parts.store.release_webhook(claim).await
    }

    /// Up to `limit` deliveries that are due at a claimed endpoint, without those that the worker `holds`. `None` if
    /// nothing can be sent: the endpoint was deleted, or it is switched off and what was due is abandoned.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn due_deliveries(
        &self,
        claim: Claim,
        limit: u32,
        holds: &HashSet<DeliveryId>,
    ) -> Result<Option<Due>, StoreError> {
        let found = self.parts.store.find_webhook(claim.org, claim.webhook).await?;
        let Some(endpoint) = found else { return Ok(None) };
        if !endpoint.active {
            self.abandon(claim, holds).await?;
            return Ok(None);
        }
        let due = self.parts.store.due_deliveries(claim, self.now(), limit).await?;
        let deliveries = due.into_iter().filter(|due| !holds.contains(&due.delivery.id)).collect();
        Ok(Some(Due { endpoint: Arc::new(endpoint), deliveries }))
    }

    /// Abandons everything that is due and not held, because the endpoint is switched off.
    async fn abandon(&self, claim: Claim, holds: &HashSet<DeliveryId>) -> Result<(), StoreError> {
        loop {
            let due = self.parts.store.due_deliveries(claim, self.now(), ABANDONED_AT_ONCE).await?;
            let due = due.into_iter().map(|due| due.delivery).filter(|delivery| !holds.contains(&delivery.id));
            let given_up: Vec<_> = due
                .map(|delivery| Recorded { id: delivery.id, seen: delivery.state, state: delivery.state.abandoned() })
                .collect();
            if given_up.is_empty() || !self.recorded(claim, given_up, HealthChange::default()).await? {
                return Ok(());
            }
        }
    }

    /// Makes one attempt at a due delivery. A delivery whose message is lost is abandoned without an attempt.
    pub async fn try_delivery(&self, due: DueDelivery, endpoint: Arc<WebhookEndpoint>) -> Tried {
        let DueDelivery { delivery, message, .. } = due;
        let Some(message) = message else {
            tracing::error!(delivery = %delivery.id, message = %delivery.message, "the message of a delivery is lost");
            let recorded = Recorded { id: delivery.id, seen: delivery.state, state: delivery.state.abandoned() };
            return Tried { recorded, outcome: None, at: self.now(), endpoint };
        };
        let outcome = self.attempt(&endpoint, &delivery, message).await.reply.outcome;
        let at = self.now();
        let state = delivery.state.after(outcome, at, random_bytes::<4>(self.entropy()));
        let recorded = Recorded { id: delivery.id, seen: delivery.state, state };
        Tried { recorded, outcome: Some(outcome), at, endpoint }
    }

    /// Makes one attempt at a delivery.
    pub(crate) async fn attempt(&self, endpoint: &WebhookEndpoint, delivery: &Delivery, message: Message) -> Attempted {
        let Message { event_type, resource_version, payload, .. } = message;
        let body = Bytes::from(payload);
        let outgoing = Outgoing {
            delivery: &delivery.id.to_string(),
            event_type,
            resource_version: Some(resource_version.0),
            body: &body,
        };
        let headers = headers(&outgoing, &endpoint.secrets, self.now());
        let began = tokio::time::Instant::now();
        let reply = self.parts.sender.post(WebhookPost { url: endpoint.url.clone(), headers, body }).await;
        let took = began.elapsed();
        kalends_metrics::WEBHOOK_ATTEMPTS.with_label_values(&[reply.outcome.as_str()]).inc();
        kalends_metrics::WEBHOOK_ATTEMPT_SECONDS.observe(took.as_secs_f64());
        tracing::debug!(
            webhook = %delivery.webhook,
            delivery = %delivery.id,
            message = %delivery.message,
            attempt = delivery.state.attempts + 1,
            outcome = reply.outcome.as_str(),
            status = reply.outcome.status(),
            problem = reply.problem.as_deref(),
            took_ms = took.as_secs_f64() * 1_000.0,
            "an attempt at a delivery ended"
        );
        Attempted { reply, took }
    }

    /// Switches an endpoint off because of its receiver's responses, sends a message to the organization's other
    /// endpoints, and emails the owner. An endpoint that was changed since the attempt began stays as it is.
    async fn deactivate(&self, endpoint: &WebhookEndpoint, why: Deactivation) -> Result<(), StoreError> {
        let now = self.now();
        let Some(off) = endpoint.deactivated(why, now) else { return Ok(()) };
        let mut changes = ChangeSet::new(off.org);
        let payload = wire::WebhookDeactivated { webhook: wire::Webhook::from(&off), reason: why.as_str().into() };
        let message = self.message(off.org, EventType::WebhookDeactivated, &payload, off.version, now);
        changes.messages.push(Message { about: Some(off.id), ..message });
        let (org, id) = (off.org, off.id);
        if let Some(mail) = self.deactivation_notice(&off, why).await? {
            changes.letters.push(self.notice(org, mail, now));
        }
        changes.webhooks.push(Change::UpdateEndpoint { endpoint: Box::new(off), seen: endpoint.version, heals: false });
        match self.store_changes(changes).await {
            Ok(()) => {}
            Err(CommitError::Store(error)) => return Err(error),
            Err(_) => return Ok(()),
        }
        tracing::warn!(%org, webhook = %id, reason = why.as_str(), "a webhook was switched off");
        kalends_metrics::WEBHOOK_DEACTIVATED.with_label_values(&[why.as_str()]).inc();
        Ok(())
    }

    /// The email to the owner of an endpoint that is switched off. Without an owner, it goes to the organization's
    /// address, if there is one.
    async fn deactivation_notice(&self, off: &WebhookEndpoint, why: Deactivation) -> Result<Option<Mail>, StoreError> {
        let Some(organization) = self.parts.store.find_organization(off.org).await? else { return Ok(None) };
        let owner = match self.parts.store.owner_of(off.org).await? {
            Some(ownership) => {
                let owner = self.parts.store.find_user(ownership.user).await?;
                // A stated address may be that of somebody else.
                owner.filter(|owner| owner.holds_address).map(|owner| owner.email)
            }
            None => None,
        };
        let Some(to) = owner.or(organization.email) else { return Ok(None) };
        let host = Foreign::new(off.url.destination().0);
        let name = Foreign::new(organization.name.as_str());
        Ok(Some(letters::webhook_deactivated(&to, &name, (off.id, &host), why)))
    }

    /// Removes up to `limit` expired deliveries, and up to `limit` expired messages. Returns whether that was all.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn forget_deliveries(&self, limit: u32) -> Result<bool, Refusal> {
        let now = self.now();
        let deliveries = self.parts.store.forget_deliveries(now - DELIVERIES_KEPT, limit).await?;
        let messages = self.parts.store.forget_messages(now - MESSAGES_KEPT, limit).await?;
        Ok(deliveries < u64::from(limit) && messages < u64::from(limit))
    }

    /// Reports the lengths of the queues to the metrics.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn measure_backlog(&self) -> Result<Backlog, Refusal> {
        let now = self.now();
        let backlog = self.parts.store.backlog(now).await?;
        let waits = backlog.oldest_due.map_or(0.0, |due| seconds(now - due));
        kalends_metrics::WEBHOOK_MESSAGES_WAITING.set(i64::try_from(backlog.waiting).unwrap_or(i64::MAX));
        kalends_metrics::WEBHOOK_DELIVERIES_PENDING.set(i64::try_from(backlog.pending).unwrap_or(i64::MAX));
        kalends_metrics::WEBHOOK_OLDEST_DUE_SECONDS.set(waits);
        Ok(backlog)
    }
}

#[expect(clippy::cast_precision_loss, reason = "a gauge of a span far below 2^52 microseconds")]
fn seconds(elapsed: kalends_time::SignedDuration) -> f64 {
    elapsed.as_micros() as f64 / 1_000_000.0
}

impl App {
    /// Records the outcomes of deliveries. If an outcome requires it, the endpoint is switched off before anything is
    /// recorded: after a crash in between, the endpoint is off, and its pending deliveries are abandoned. Returns
    /// `false` if the claim is lost.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn record_deliveries(&self, claim: Claim, ended: &[Tried]) -> Result<bool, StoreError> {
        let mut change = HealthChange::default();
        let failed = ended.iter().any(|ended| ended.outcome.is_some_and(|outcome| !outcome.is_success()));
        let since = if failed { self.parts.store.failing_since(claim.org, claim.webhook).await? } else { None };
        let mut health = Health { failing_since: since };
        for Tried { outcome, at, endpoint, .. } in ended {
            let Some(outcome) = outcome else { continue };
            change = change.then(*outcome, *at);
            let why;
            (health, why) = health.after(*outcome, *at);
            if let Some(why) = why {
                // Boxed because it is rare, and its future is much larger than the rest: a thousand endpoints may
                // fail at once.
                Box::pin(self.deactivate(endpoint, why)).await?;
            }
        }
        let recorded = ended.iter().map(|ended| ended.recorded).collect();
        self.recorded(claim, recorded, change).await
    }

    /// Writes outcomes. Returns `false` if the claim is lost. The change-set is an ordinary one, so that a store may
    /// commit it in one batch with the changes of requests.
    async fn recorded(&self, claim: Claim, recorded: Vec<Recorded>, health: HealthChange) -> Result<bool, StoreError> {
        match self.parts.store.commit(record_of(Record { claim, recorded, health, at: self.now() })).await {
            Ok(()) => Ok(true),
            Err(CommitError::Stale) => Ok(false),
            Err(CommitError::Store(error)) => Err(error),
            Err(other) => Err(StoreError::Failed(Box::new(other))),
        }
    }
}

/// A change-set that only contains a record.
fn record_of(record: Record) -> ChangeSet {
    let mut changes = ChangeSet::new(record.claim.org);
    changes.webhooks.push(Change::Record(record));
    changes
}
