//! Webhooks: addressing messages, and sending them.
//!
//! Both are loops of their own, since they are woken by what this process commits and need not wait for a tick; what
//! others commit they find by looking, ten times a second while there is something to do.

use std::{sync::Arc, time::Duration};

use kalends_app::App;
use kalends_notifications::Places;
use tokio::{
    sync::Semaphore,
    time::{Instant, sleep},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// How often it is looked for what other processes have made work of, while there was some lately.
const BUSY: Duration = Duration::from_millis(100);
/// And how often where there was none lately.
const IDLE: Duration = Duration::from_millis(500);
/// How long what is committed right after other messages waits for more to be addressed with it.
const GATHER: Duration = Duration::from_millis(50);
/// How long lately is.
const LATELY: Duration = Duration::from_secs(5);
/// How many messages are addressed at once.
const MESSAGES_AT_ONCE: u32 = 500;
/// How many endpoints are claimed at once.
const CLAIMED_AT_ONCE: u32 = 64;
/// How many endpoints are served at once: each that hangs holds one connection.
const SERVED_MAX: usize = 4_096;
/// How many of which the last attempt failed are served beside them.
const FAILING_MAX: usize = 256;

/// How long to wait before looking again: shorter while there was something lately.
#[derive(Default)]
struct Pace {
    found: Option<Instant>,
    failing: bool,
}

impl Pace {
    /// Takes note of how a look ended, and hands on what it found. A failure is told once, not with every look.
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

/// Addresses messages to webhook endpoints, for ever.
pub(crate) async fn fan_out(app: Arc<App>) {
    let mut pace = Pace::default();
    loop {
        let looked = app.fan_out_messages(MESSAGES_AT_ONCE).await;
        match pace.note("messages cannot be addressed", looked, |fanned| fanned.messages > 0) {
            Some(fanned) if fanned.more => continue,
            Some(fanned) if fanned.messages > 0 => sleep(GATHER).await,
            Some(_) => {}
            // Not again at once, however many messages are made meanwhile.
            None => sleep(IDLE).await,
        }
        let wait = pace.wait();
        tokio::select! {
            () = app.nudged_to_fan_out() => {}
            () = sleep(wait) => {}
        }
    }
}

/// Starts sending to webhook endpoints. With `stop` nothing more is begun, and what is in flight ends, which takes as
/// long as an attempt does at most; then the endpoints are left to other nodes.
pub fn send_webhooks(app: &Arc<App>, tasks: &TaskTracker, stop: &CancellationToken) {
    tasks.spawn(send(Arc::clone(app), tasks.clone(), stop.clone()));
}

async fn send(app: Arc<App>, tasks: TaskTracker, stop: CancellationToken) {
    let [sound, failing] = [SERVED_MAX, FAILING_MAX].map(|places| Arc::new(Semaphore::new(places)));
    let free = |of: &Semaphore| u32::try_from(of.available_permits()).unwrap_or(u32::MAX).min(CLAIMED_AT_ONCE);
    let mut pace = Pace::default();
    while !stop.is_cancelled() {
        let places = Places { sound: free(&sound), failing: free(&failing) };
        let looked = app.claim_webhooks(places).await;
        let claims = pace.note("webhooks cannot be claimed", looked, |claims| !claims.is_empty()).unwrap_or_default();
        // Whether nothing is left that there is a place for.
        let taken = |failing| claims.iter().filter(|claim| claim.failing == failing).count();
        let all = taken(false) < CLAIMED_AT_ONCE as usize && taken(true) < CLAIMED_AT_ONCE as usize;
        for claim in claims {
            let (app, stop) = (Arc::clone(&app), stop.clone());
            // There is a place for each: nobody else takes any.
            let place = Arc::clone(if claim.failing { &failing } else { &sound }).try_acquire_owned().ok();
            tasks.spawn(async move {
                app.serve_webhook(claim, &stop).await;
                drop(place);
            });
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
    async fn it_is_looked_more_often_while_there_is_something() {
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
