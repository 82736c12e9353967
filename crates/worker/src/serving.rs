//! Serving one webhook endpoint: how many deliveries are in flight, when outcomes are recorded, and when it ends.
//!
//! The use cases of `app` read what is due, make an attempt, and record outcomes. [`serve_webhook`] decides when each
//! of them runs. The number of deliveries in flight follows the endpoint's responses. It starts at one, grows by one
//! with each success, and halves with each failure. So an endpoint that hangs holds one connection, and one that
//! responds is served at its own pace.

use std::{
    collections::{HashSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use kalends_app::{App, Due, Tried};
use kalends_kernel::{DeliveryId, StoreError};
use kalends_notifications::{Claim, Outcome, WebhookEndpoint, ports::DueDelivery};
use tokio::{
    task::{JoinError, JoinSet},
    time::{Instant, sleep, timeout},
};
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

/// The most deliveries in flight to one endpoint, across all nodes.
const WINDOW_MAX: usize = 16;
/// The most deliveries that are read at once for each one that may be in flight. For an endpoint without a success
/// yet, none are read in advance, because many such endpoints may hang.
const AHEAD: usize = 8;
/// How long an outcome waits for others, so that they are recorded together.
const GATHER: Duration = Duration::from_millis(10);
/// The maximum number of deliveries to one endpoint that have begun and are not recorded, across all nodes. A crash
/// repeats at most this many. While the outcomes of one window are written, the next window is sent.
pub const UNRECORDED_MAX: usize = 2 * WINDOW_MAX;
/// How often an endpoint that is being served is checked for more deliveries.
const LOOK_AGAIN: Duration = Duration::from_millis(200);
/// How many times a record is tried while the store fails. The claim lasts about as long.
const RECORD_ATTEMPTS: u32 = 20;
/// The pause between two tries.
const RECORD_AGAIN: Duration = Duration::from_secs(1);

/// The result of a task of [`Serving`].
enum Done {
    Attempt(Box<Tried>),
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
    ended: Vec<Tried>,
    /// When to record them, even if there are only a few.
    record_at: Instant,
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

/// A task panicked.
#[derive(Debug, thiserror::Error)]
#[error("a task that sends or records deliveries ended early")]
struct Broken(#[source] JoinError);

/// Serves an endpoint until nothing is due, its attempts have only failed, or `stop` is cancelled. Then it finishes
/// what is in flight and begins nothing more. Failures are logged and left to the next worker that claims the
/// endpoint.
pub async fn serve_webhook(app: &Arc<App>, claim: Claim, stop: &CancellationToken) {
    let mut serving = Serving {
        app: Arc::clone(app),
        claim,
        tasks: JoinSet::new(),
        in_flight: 0,
        recording: false,
        window: 1,
        seen: Seen::Nothing,
        waiting: VecDeque::new(),
        ended: Vec::new(),
        record_at: Instant::now(),
        held: HashSet::new(),
    };
    let served = async {
        if serving.run(stop).await? {
            app.release_webhook(claim).await?;
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
            && (self.ended.len() >= WINDOW_MAX || self.in_flight == 0 || self.record_at <= Instant::now())
    }

    /// How long to wait for a task to end before doing something else; `None` if there is nothing else to do.
    fn patience(&self, looks: bool) -> Option<Duration> {
        if !self.recording && !self.ended.is_empty() {
            return Some(self.record_at.saturating_duration_since(Instant::now()));
        }
        looks.then_some(LOOK_AGAIN)
    }

    fn is_idle(&self) -> bool {
        self.tasks.is_empty() && self.ended.is_empty()
    }

    /// Reads what is due. Returns `false` if nothing is left to do.
    async fn refill(&mut self) -> Result<bool, StoreError> {
        let limit = u32::try_from(self.window * self.window.min(AHEAD) + self.held.len()).unwrap_or(u32::MAX);
        let Due { endpoint, deliveries } = match self.app.due_deliveries(self.claim, limit, &self.held).await? {
            Some(due) => due,
            None => return Ok(!self.is_idle()),
        };
        self.waiting = deliveries.into_iter().map(|due| (due, Arc::clone(&endpoint))).collect();
        Ok(!self.waiting.is_empty() || !self.is_idle())
    }

    /// Sends a delivery in its own task.
    fn begin(&mut self, due: DueDelivery, endpoint: Arc<WebhookEndpoint>) {
        self.held.insert(due.delivery.id);
        self.in_flight += 1;
        let app = Arc::clone(&self.app);
        let attempting = async move { Done::Attempt(Box::new(app.try_delivery(due, endpoint).await)) };
        self.tasks.spawn(attempting.in_current_span());
    }

    /// Queues an outcome to be recorded.
    fn end(&mut self, ended: Tried) {
        if self.ended.is_empty() {
            self.record_at = Instant::now() + GATHER;
        }
        self.ended.push(ended);
    }

    /// Records the outcomes so far. Later ones go into the next record.
    fn record_ended(&mut self) {
        self.recording = true;
        let (app, claim, ended) = (Arc::clone(&self.app), self.claim, std::mem::take(&mut self.ended));
        let recording = async move {
            let mut left = RECORD_ATTEMPTS;
            let held = loop {
                left -= 1;
                match app.record_deliveries(claim, &ended).await {
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
        };
        self.tasks.spawn(recording.in_current_span());
    }

    /// Handles the result of a task. Returns `false` if the claim is lost.
    fn take(&mut self, done: Done) -> Result<bool, StoreError> {
        match done {
            Done::Attempt(ended) => {
                self.in_flight -= 1;
                if let Some(success) = ended.outcome.map(Outcome::is_success) {
                    self.window = next_window(self.window, success);
                    self.seen = match self.seen {
                        Seen::Nothing | Seen::Failures if !success => Seen::Failures,
                        _ => Seen::Success,
                    };
                }
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
