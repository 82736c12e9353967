//! Sending webhook messages from the outbox to their receivers: the use cases that the workers call.
//!
//! Messages are addressed in batches ([`App::fan_out_messages`]). This creates deliveries and wakes the queues of
//! their endpoints. A worker claims endpoints ([`App::claim_webhooks`]) and serves each in its own task
//! ([`App::serve_webhook`]), so that an endpoint that hangs delays no other. While the worker serves an endpoint, it
//! reads what is due, sends up to [`WINDOW_MAX`] deliveries at once, and records several outcomes in one write.
//!
//! The number of deliveries in flight follows the endpoint's responses. It starts at one, grows by one with each
//! success, and halves with each failure. So an endpoint that hangs holds one connection, and one that responds is
//! served at its own pace.

use std::{
    collections::{HashSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use kalends_accounts::Email;
use kalends_kernel::{DeliveryId, Foreign, StoreError, Timestamp, random_bytes};
use kalends_notifications::{
    Change, Claim, DELIVERIES_KEPT, Deactivation, Delivery, EventType, Health, HealthChange, MESSAGES_KEPT, Message,
    Outcome, Outgoing, Places, Record, Recorded, WebhookEndpoint, headers,
    ports::{Backlog, DueDelivery, FannedOut},
};
use kalends_wire as wire;
use tokio::{
    sync::Notify,
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{
    App, ChangeSet, Refusal, letters,
    ports::{CommitError, WebhookPost, WebhookReply, WebhookSender},
};

/// The most deliveries in flight to one endpoint, across all nodes.
const WINDOW_MAX: usize = 16;
/// How many deliveries are read at once for each that may be in flight, at most. For an endpoint without a success
/// yet, none are read in advance, because many such endpoints may hang.
const AHEAD: usize = 8;
/// How long an outcome waits for others to be recorded together.
const GATHER: Duration = Duration::from_millis(10);
/// The most deliveries to one endpoint that have begun and are not recorded, across all nodes: a crash repeats at
/// most this many. While the outcomes of one window are written, the next window is sent.
pub const UNRECORDED_MAX: usize = 2 * WINDOW_MAX;
/// How often an endpoint that is being served is checked for more deliveries.
const LOOK_AGAIN: Duration = Duration::from_millis(200);
/// How often a record is tried while the store fails. The claim lasts about as long.
const RECORD_ATTEMPTS: u32 = 20;
/// The pause between two tries.
const RECORD_AGAIN: Duration = Duration::from_secs(1);
/// How many deliveries are abandoned at once.
const ABANDONED_AT_ONCE: u32 = 500;

/// Wakes the workers of this process when there is work. Workers of other processes poll.
#[derive(Default)]
pub(crate) struct Nudges {
    pub(crate) fan_out: Notify,
    pub(crate) send: Notify,
    pub(crate) letters: Notify,
    pub(crate) sync: Notify,
    pub(crate) refresh: Notify,
}

/// A sender that sends nothing, for a process without workers.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSender;

#[async_trait]
impl WebhookSender for NoSender {
    fn exempts(&self, _: &str, _: u16) -> bool {
        false
    }

    async fn post(&self, _: WebhookPost) -> WebhookReply {
        WebhookReply { outcome: Outcome::Unanswered, problem: Some("this process sends nothing".to_owned()) }
    }
}

/// The result of one attempt.
pub(crate) struct Attempted {
    pub(crate) reply: WebhookReply,
    pub(crate) took: Duration,
}

/// A delivery that a worker has finished with for now.
struct Ended {
    recorded: Recorded,
    /// The receiver's response; `None` if nothing was sent.
    outcome: Option<Outcome>,
    at: Timestamp,
    /// The endpoint as it was when the attempt began.
    endpoint: Arc<WebhookEndpoint>,
}

/// The result of a task of [`Serving`].
enum Done {
    Attempt(Box<Ended>),
    /// The recorded deliveries, and whether the claim still holds.
    Record(Vec<DeliveryId>, Result<bool, StoreError>),
}

/// An endpoint while a worker serves it.
struct Serving {
    app: Arc<App>,
    claim: Claim,
    tasks: JoinSet<Done>,
    in_flight: usize,
    recording: bool,
    /// How many may be in flight.
    window: usize,
    /// How the endpoint has responded since it was claimed.
    seen: Seen,
    /// Due deliveries that have not begun, each with the endpoint as it was read with them.
    waiting: VecDeque<(DueDelivery, Arc<WebhookEndpoint>)>,
    /// The outcomes to record.
    ended: Vec<Ended>,
    /// When to record them, even if there are only a few.
    record_at: tokio::time::Instant,
    /// Deliveries that have begun and are not recorded yet.
    held: HashSet<DeliveryId>,
}

/// How an endpoint has responded since it was claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    Nothing,
    /// Only failures.
    Failures,
    /// At least one success.
    Success,
}

/// A task of a worker panicked.
#[derive(Debug, thiserror::Error)]
#[error("a task that sends or records deliveries ended early")]
struct Broken(#[source] tokio::task::JoinError);

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
        let fanned = self.store.fan_out(self.now(), limit).await?;
        if fanned.queued > 0 {
            self.nudges.send.notify_one();
        }
        metrics::counter!("kalends_webhook_messages_total").increment(fanned.messages);
        metrics::counter!("kalends_webhook_skipped_total").increment(fanned.skipped);
        Ok(fanned)
    }

    /// Claims due endpoints, up to the number of free places.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn claim_webhooks(&self, places: Places) -> Result<Vec<Claim>, Refusal> {
        Ok(self.store.claim_webhooks(self.now(), places).await?)
    }

    /// Serves an endpoint until nothing is due or `stop` is cancelled. Then it finishes what is in flight and begins
    /// nothing more. Failures are logged and left to the next worker that claims the endpoint.
    pub async fn serve_webhook(self: &Arc<Self>, claim: Claim, stop: &CancellationToken) {
        let mut serving = Serving {
            app: Arc::clone(self),
            claim,
            tasks: JoinSet::new(),
            in_flight: 0,
            recording: false,
            window: 1,
            seen: Seen::Nothing,
            waiting: VecDeque::new(),
            ended: Vec::new(),
            record_at: tokio::time::Instant::now(),
            held: HashSet::new(),
        };
        let served = async {
            if serving.run(stop).await? {
                self.store.release_webhook(claim).await?;
            }
            Ok::<_, StoreError>(())
        };
        if let Err(error) = served.await {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                webhook = %claim.webhook,
                "a webhook cannot be served; it is claimed again once its claim has expired"
            );
        }
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
        let reply = self.sender.post(WebhookPost { url: endpoint.url.clone(), headers, body }).await;
        let took = began.elapsed();
        metrics::counter!("kalends_webhook_attempts_total", "outcome" => reply.outcome.as_str()).increment(1);
        metrics::histogram!("kalends_webhook_attempt_seconds").record(took.as_secs_f64());
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
        let (org, id, host) = (off.org, off.id, off.url.destination().0.to_owned());
        changes.webhooks.push(Change::UpdateEndpoint { endpoint: Box::new(off), seen: endpoint.version, heals: false });
        match self.store_changes(changes).await {
            Ok(()) => {}
            Err(CommitError::Store(error)) => return Err(error),
            Err(_) => return Ok(()),
        }
        tracing::warn!(%org, webhook = %id, reason = why.as_str(), "a webhook was switched off");
        metrics::counter!("kalends_webhook_deactivated_total", "reason" => why.as_str()).increment(1);
        let Some(organization) = self.store.find_organization(org).await? else { return Ok(()) };
        let owner = match self.store.owner_of(org).await? {
            Some(ownership) => self.store.find_user(ownership.user).await?.map(|user| user.email),
            None => None,
        };
        let to: Option<Email> = owner.or_else(|| organization.email.clone());
        if let Some(to) = to {
            self.post(letters::webhook_deactivated(
                &to,
                &Foreign::new(organization.name.as_str()),
                (id, &Foreign::new(&host)),
                why,
            ));
        }
        Ok(())
    }

    /// Removes up to `limit` expired deliveries, and up to `limit` expired messages. Returns whether that was all.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn forget_deliveries(&self, limit: u32) -> Result<bool, Refusal> {
        let now = self.now();
        let deliveries = self.store.forget_deliveries(now - DELIVERIES_KEPT, limit).await?;
        let messages = self.store.forget_messages(now - MESSAGES_KEPT, limit).await?;
        Ok(deliveries < u64::from(limit) && messages < u64::from(limit))
    }

    /// Reports the lengths of the queues to the metrics.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn measure_backlog(&self) -> Result<Backlog, Refusal> {
        let now = self.now();
        let backlog = self.store.backlog(now).await?;
        let waits = backlog.oldest_due.map_or(0.0, |due| seconds(now - due));
        #[expect(clippy::cast_precision_loss, reason = "a gauge of counts that are bounded far below 2^52")]
        let (waiting, pending) = (backlog.waiting as f64, backlog.pending as f64);
        metrics::gauge!("kalends_webhook_messages_waiting").set(waiting);
        metrics::gauge!("kalends_webhook_deliveries_pending").set(pending);
        metrics::gauge!("kalends_webhook_oldest_due_seconds").set(waits);
        Ok(backlog)
    }
}

#[expect(clippy::cast_precision_loss, reason = "a gauge of a span far below 2^52 microseconds")]
fn seconds(elapsed: kalends_kernel::SignedDuration) -> f64 {
    elapsed.as_micros() as f64 / 1_000_000.0
}

impl Serving {
    /// Serves until nothing is left to do. Returns `false` if the claim is lost.
    async fn run(&mut self, stop: &CancellationToken) -> Result<bool, StoreError> {
        loop {
            // An endpoint that only fails gives up its place after the first attempt. Its remaining deliveries use
            // the places of failing endpoints.
            let ends = stop.is_cancelled() || self.seen == Seen::Failures;
            if ends {
                // Deliveries that have not begun stay due.
                self.waiting.clear();
            } else if self.has_room() && self.waiting.is_empty() && !self.refill().await? {
                return Ok(true);
            }
            while self.has_room()
                && let Some((due, endpoint)) = self.waiting.pop_front()
            {
                self.begin(due, endpoint);
            }
            if self.is_time_to_record() {
                self.record_ended();
            }
            let looks = self.has_room() && !ends;
            let done = match self.patience(looks) {
                Some(patience) => timeout(patience, self.tasks.join_next()).await,
                None => Ok(self.tasks.join_next().await),
            };
            let mut done = match done {
                // Nothing ended: look for more, or record what ended earlier.
                Err(_) => continue,
                Ok(None) if ends => return Ok(true),
                Ok(None) => continue,
                Ok(Some(done)) => Some(done),
            };
            while let Some(ended) = done {
                if !self.take(ended.map_err(|error| StoreError::Failed(Box::new(Broken(error))))?)? {
                    return Ok(false);
                }
                done = self.tasks.try_join_next();
            }
        }
    }

    fn has_room(&self) -> bool {
        self.in_flight < self.window && self.held.len() < UNRECORDED_MAX
    }

    /// Whether to record the outcomes now: because there are enough, because they have waited long enough, or because
    /// no more can follow.
    fn is_time_to_record(&self) -> bool {
        !self.recording
            && !self.ended.is_empty()
            && (self.ended.len() >= WINDOW_MAX || self.in_flight == 0 || self.record_at <= tokio::time::Instant::now())
    }

    /// How long to wait for a task to end before something else is to be done.
    fn patience(&self, looks: bool) -> Option<Duration> {
        if !self.recording && !self.ended.is_empty() {
            return Some(self.record_at.saturating_duration_since(tokio::time::Instant::now()));
        }
        looks.then_some(LOOK_AGAIN)
    }

    fn is_idle(&self) -> bool {
        self.tasks.is_empty() && self.ended.is_empty()
    }

    /// Reads what is due. Returns `false` if nothing is left to do.
    async fn refill(&mut self) -> Result<bool, StoreError> {
        let store = Arc::clone(&self.app.store);
        let Some(endpoint) = store.find_webhook(self.claim.org, self.claim.webhook).await? else {
            return Ok(!self.is_idle());
        };
        if !endpoint.active {
            self.abandon().await?;
            return Ok(!self.is_idle());
        }
        let limit = u32::try_from(self.window * self.window.min(AHEAD) + self.held.len()).unwrap_or(u32::MAX);
        let due = store.due_deliveries(self.claim, self.app.now(), limit).await?;
        let endpoint = Arc::new(endpoint);
        let fresh = due.into_iter().filter(|due| !self.held.contains(&due.delivery.id));
        self.waiting = fresh.map(|due| (due, Arc::clone(&endpoint))).collect();
        Ok(!self.waiting.is_empty() || !self.is_idle())
    }

    /// Abandons everything that is due, because the endpoint is switched off.
    async fn abandon(&mut self) -> Result<(), StoreError> {
        loop {
            let now = self.app.now();
            let due = self.app.store.due_deliveries(self.claim, now, ABANDONED_AT_ONCE).await?;
            let due = due.into_iter().map(|due| due.delivery).filter(|delivery| !self.held.contains(&delivery.id));
            let given_up: Vec<_> = due
                .map(|delivery| Recorded { id: delivery.id, seen: delivery.state, state: delivery.state.abandoned() })
                .collect();
            if given_up.is_empty() || !self.app.recorded(self.claim, given_up, HealthChange::default()).await? {
                return Ok(());
            }
        }
    }

    /// Sends a delivery in its own task.
    fn begin(&mut self, due: DueDelivery, endpoint: Arc<WebhookEndpoint>) {
        let delivery = due.delivery;
        self.held.insert(delivery.id);
        let Some(message) = due.message else {
            tracing::error!(delivery = %delivery.id, message = %delivery.message, "the message of a delivery is lost");
            let recorded = Recorded { id: delivery.id, seen: delivery.state, state: delivery.state.abandoned() };
            self.end(Ended { recorded, outcome: None, at: self.app.now(), endpoint });
            return;
        };
        self.in_flight += 1;
        let app = Arc::clone(&self.app);
        self.tasks.spawn(async move {
            let outcome = app.attempt(&endpoint, &delivery, message).await.reply.outcome;
            let at = app.now();
            let state = delivery.state.after(outcome, at, random_bytes::<4>(app.entropy()));
            let recorded = Recorded { id: delivery.id, seen: delivery.state, state };
            Done::Attempt(Box::new(Ended { recorded, outcome: Some(outcome), at, endpoint }))
        });
    }

    /// Queues an outcome to be recorded.
    fn end(&mut self, ended: Ended) {
        if self.ended.is_empty() {
            self.record_at = tokio::time::Instant::now() + GATHER;
        }
        self.ended.push(ended);
    }

    /// Records the outcomes so far. Later ones go into the next record.
    fn record_ended(&mut self) {
        self.recording = true;
        let (app, claim, ended) = (Arc::clone(&self.app), self.claim, std::mem::take(&mut self.ended));
        self.tasks.spawn(async move {
            let mut left = RECORD_ATTEMPTS;
            let held = loop {
                left -= 1;
                match app.record(claim, &ended).await {
                    Err(error) if left > 0 => {
                        tracing::warn!(
                            error = &error as &dyn std::error::Error,
                            "deliveries cannot be recorded; trying again"
                        );
                        sleep(RECORD_AGAIN).await;
                    }
                    held => break held,
                }
            };
            Done::Record(ended.iter().map(|ended| ended.recorded.id).collect(), held)
        });
    }

    /// Handles the result of a task. Returns `false` if the claim is lost.
    fn take(&mut self, done: Done) -> Result<bool, StoreError> {
        match done {
            Done::Attempt(ended) => {
                self.in_flight -= 1;
                let success = ended.outcome.is_some_and(Outcome::is_success);
                self.window = next_window(self.window, success);
                self.seen = match self.seen {
                    Seen::Nothing | Seen::Failures if !success => Seen::Failures,
                    _ => Seen::Success,
                };
                self.end(*ended);
                Ok(true)
            }
            Done::Record(ids, held) => {
                self.recording = false;
                for id in ids {
                    self.held.remove(&id);
                }
                let held = held?;
                if !held {
                    tracing::info!(webhook = %self.claim.webhook, "a claim was lost; its outcomes are not recorded");
                }
                Ok(held)
            }
        }
    }
}

/// How many may be in flight after another attempt: one more after a success, half as many after a failure.
fn next_window(window: usize, success: bool) -> usize {
    if success { (window + 1).min(WINDOW_MAX) } else { (window / 2).max(1) }
}

impl App {
    /// Records the outcomes of deliveries. If an outcome ends the endpoint, the endpoint is switched off first: after
    /// a crash in between, the endpoint is off, and its pending deliveries are abandoned.
    async fn record(&self, claim: Claim, ended: &[Ended]) -> Result<bool, StoreError> {
        let mut change = HealthChange::default();
        let failed = ended.iter().any(|ended| ended.outcome.is_some_and(|outcome| !outcome.is_success()));
        let since = if failed { self.store.failing_since(claim.org, claim.webhook).await? } else { None };
        let mut health = Health { failing_since: since };
        for Ended { outcome, at, endpoint, .. } in ended {
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

    /// Writes outcomes. Returns `false` if the claim is lost. They are an ordinary change-set, so that a store may
    /// commit them in one batch with the changes of requests.
    async fn recorded(&self, claim: Claim, recorded: Vec<Recorded>, health: HealthChange) -> Result<bool, StoreError> {
        match self.store.commit(record_of(Record { claim, recorded, health, at: self.now() })).await {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_follows_the_outcomes() {
        let after =
            |window, outcomes: &[bool]| outcomes.iter().fold(window, |window, success| next_window(window, *success));
        assert_eq!(after(1, &[true; 3]), 4);
        assert_eq!(after(1, &[true; 100]), WINDOW_MAX);
        assert_eq!(after(WINDOW_MAX, &[false]), WINDOW_MAX / 2);
        assert_eq!(after(WINDOW_MAX, &[false; 10]), 1, "an endpoint that hangs holds one connection");
    }
}
