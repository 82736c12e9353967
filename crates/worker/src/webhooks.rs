//! Webhooks: addressing messages, and sending them.
//!
//! Both have loops of their own, because commits of this process wake them without waiting for a tick. They find the
//! commits of other processes by polling, ten times a second while there is work.

use std::{sync::Arc, time::Duration};

use kalends_app::App;
use kalends_notifications::Places;
use tokio::{
    sync::Semaphore,
    time::{Instant, sleep},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::Instrument as _;

use crate::serving::serve_webhook;

/// How often to poll for work of other processes if there was some lately.
const BUSY: Duration = Duration::from_millis(100);
/// How often to poll if there was none lately.
const IDLE: Duration = Duration::from_millis(500);
/// How long to wait after a batch of messages, so that the next ones are addressed together.
const GATHER: Duration = Duration::from_millis(50);
/// How long ago counts as lately.
const LATELY: Duration = Duration::from_secs(5);
/// How many messages one batch addresses.
const MESSAGES_AT_ONCE: u32 = 500;
/// How many endpoints one claim takes.
const CLAIMED_AT_ONCE: u32 = 64;
/// How many endpoints are served at once. An endpoint that hangs holds one connection.
const SERVED_MAX: usize = 4_096;
/// How many endpoints whose last attempt failed are served in addition.
const FAILING_MAX: usize = 256;

/// How long to wait before the next poll: shorter if there was work lately.
#[derive(Default)]
struct Pace {
    found: Option<Instant>,
    failing: bool,
}

impl Pace {
    /// Records the outcome of a poll and returns what it found. A failure is logged once, not at every poll.
    fn note<T>(
        &mut self,
        what: &str,
        looked: Result<T, kalends_app::Refusal>,
        is_some: impl Fn(&T) -> bool,
    ) -> Option<T> {
        match looked {
            Ok(found) => {
                self.failing = false;
                if is_some(&found) {
                    self.found = Some(Instant::now());
                }
                Some(found)
            }
            Err(error) => {
                if !self.failing {
                    tracing::error!(error = &error as &dyn std::error::Error, "{what}");
                }
                self.failing = true;
                None
            }
        }
    }

    fn wait(&self) -> Duration {
        if self.found.is_some_and(|found| found.elapsed() < LATELY) { BUSY } else { IDLE }
    }
}

/// Addresses messages to webhook endpoints, forever.
pub(crate) async fn fan_out(app: Arc<App>) {
    let mut pace = Pace::default();
    loop {
        let span = tracing::error_span!("turn", worker = "messages");
        let looked = app.fan_out_messages(MESSAGES_AT_ONCE).instrument(span).await;
        match pace.note("cannot address webhook messages", looked, |fanned| fanned.messages > 0) {
            Some(fanned) if fanned.more => continue,
            Some(fanned) if fanned.messages > 0 => sleep(GATHER).await,
            Some(_) => {}
            // After a failure, pause even if new messages arrive.
            None => sleep(IDLE).await,
        }
        let wait = pace.wait();
        tokio::select! {
            () = app.nudged_to_fan_out() => {}
            () = sleep(wait) => {}
        }
    }
}

/// Starts sending to webhook endpoints. When `stop` is cancelled, it claims no more endpoints and finishes the
/// attempts in flight, which takes at most the time limit of one attempt. Other nodes then take over the endpoints.
pub(crate) fn send_webhooks(app: &Arc<App>, tasks: &TaskTracker, stop: &CancellationToken) {
    tasks.spawn(send(Arc::clone(app), tasks.clone(), stop.clone()));
}

async fn send(app: Arc<App>, tasks: TaskTracker, stop: CancellationToken) {
    let [sound, failing] = [SERVED_MAX, FAILING_MAX].map(|places| Arc::new(Semaphore::new(places)));
    let free = |of: &Semaphore| u32::try_from(of.available_permits()).unwrap_or(u32::MAX).min(CLAIMED_AT_ONCE);
    let mut pace = Pace::default();
    while !stop.is_cancelled() {
        let places = Places { sound: free(&sound), failing: free(&failing) };
        let span = tracing::error_span!("claim", worker = "webhooks");
        let looked = app.claim_webhooks(places).instrument(span).await;
        let claims =
            pace.note("cannot claim webhook endpoints", looked, |claims| !claims.is_empty()).unwrap_or_default();
        // Whether the claim took everything that is due and has a free place.
        let taken = |failing| claims.iter().filter(|claim| claim.failing == failing).count();
        let all = taken(false) < CLAIMED_AT_ONCE as usize && taken(true) < CLAIMED_AT_ONCE as usize;
        for claim in claims {
            let (app, stop) = (Arc::clone(&app), stop.clone());
            // Never fails: the claim was limited to the free places, and only this loop takes them.
            let place = Arc::clone(if claim.failing { &failing } else { &sound }).try_acquire_owned().ok();
            let serving = async move {
                serve_webhook(&app, claim, &stop).await;
                drop(place);
            };
            tasks.spawn(serving.instrument(tracing::error_span!("work", worker = "webhooks")));
        }
        if all {
            let wait = pace.wait();
            tokio::select! {
                () = stop.cancelled() => {}
                () = app.nudged_to_send() => {}
                () = sleep(wait) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use kalends_app::Refusal;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn polls_are_more_frequent_while_there_is_work() {
        let mut pace = Pace::default();
        let mut look = |found: Result<u32, Refusal>| {
            pace.note("nothing works", found, |found| *found > 0);
            pace.wait()
        };
        assert_eq!(look(Ok(0)), IDLE);
        assert_eq!(look(Ok(3)), BUSY);
        assert_eq!(look(Ok(0)), BUSY);
        assert_eq!(look(Err(Refusal::Contended)), BUSY);
        sleep(LATELY).await;
        assert_eq!(look(Ok(0)), IDLE);
    }
}
