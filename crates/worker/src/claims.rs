//! Work that is claimed and done in a task of its own. A loop wakes when this process makes work due, and polls every
//! second for work that other processes made due. While there is work, it claims more as soon as a place is free.

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use kalends_app::{App, Refusal};
use kalends_bridge::{Connection, RefreshClaim, ports::ClaimedDestination};
use kalends_feeds::{Subscription, SyncClaim};
use kalends_notifications::ClaimedLetter;
use tokio::{sync::Semaphore, time::sleep};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::Instrument as _;

/// How often a loop polls: the longest delay before due work begins, if a place is free.
const EVERY: Duration = Duration::from_secs(1);
/// How long to wait after a place is free, so that one claim fills several places.
const GATHER: Duration = Duration::from_millis(20);

type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;
type Claims<T> = Boxed<Result<Vec<T>, Refusal>>;

/// A kind of work that is claimed piece by piece.
pub(crate) struct Claimed<T> {
    /// The name in spans.
    name: &'static str,
    /// What is logged if claiming fails.
    failure: &'static str,
    /// How many pieces are worked on at once.
    at_once: usize,
    /// What happens to the pieces in progress when the worker stops.
    at_stop: AtStop,
    /// Claims at most that many due pieces.
    claim: fn(Arc<App>, u32) -> Claims<T>,
    /// Does one piece.
    work: fn(Arc<App>, T) -> Boxed<()>,
    /// Waits until this process has made a piece due.
    nudged: fn(Arc<App>) -> Boxed<()>,
}

/// What happens to the pieces in progress when the worker stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AtStop {
    /// They are finished, because others see what a piece does before it is recorded, and it would be repeated.
    Finish,
    /// They are dropped. What was committed stays committed, and another worker continues once the claim has expired.
    Drop,
}

/// Subscriptions to feeds. Each may hold 10 MiB, and a feed that hangs holds its place for 30 s.
pub(crate) const SYNCS: Claimed<(SyncClaim, Subscription)> = Claimed {
    name: "subscriptions",
    failure: "cannot claim subscriptions",
    at_once: 4,
    at_stop: AtStop::Drop,
    claim: |app, limit| Box::pin(async move { app.claim_syncs(limit).await }),
    work: |app, (claim, subscription)| Box::pin(async move { app.sync(claim, subscription).await }),
    nudged: |app| Box::pin(async move { app.nudged_to_sync().await }),
};

/// Connections of human calendars. Each waits for its provider most of the time.
pub(crate) const REFRESHES: Claimed<(RefreshClaim, Connection)> = Claimed {
    name: "human_calendars",
    failure: "cannot claim connections of human calendars",
    at_once: 16,
    at_stop: AtStop::Drop,
    claim: |app, limit| Box::pin(async move { app.claim_refreshes(limit).await }),
    work: |app, (claim, connection)| Box::pin(async move { app.refresh_connection(claim, connection).await }),
    nudged: |app| Box::pin(async move { app.nudged_to_refresh().await }),
};

/// Calendars that are published to human calendars. Each waits for its provider most of the time.
pub(crate) const PUBLICATIONS: Claimed<ClaimedDestination> = Claimed {
    name: "publishing",
    failure: "cannot claim calendars to publish",
    at_once: 16,
    at_stop: AtStop::Drop,
    claim: |app, limit| Box::pin(async move { app.claim_publications(limit).await }),
    work: |app, claimed| Box::pin(async move { app.publish(claimed).await }),
    nudged: |app| Box::pin(async move { app.nudged_to_publish().await }),
};

/// Emails on behalf of organizations. Each waits for the mail server most of the time.
pub(crate) const LETTERS: Claimed<ClaimedLetter> = Claimed {
    name: "letters",
    failure: "cannot claim emails",
    at_once: 32,
    at_stop: AtStop::Finish,
    claim: |app, limit| Box::pin(async move { app.claim_letters(limit).await }),
    work: |app, letter| Box::pin(async move { app.send_letter(letter).await }),
    nudged: |app| Box::pin(async move { app.nudged_to_letters().await }),
};

impl<T: Send + 'static> Claimed<T> {
    /// Starts the loop. When `stop` is cancelled, it claims nothing more.
    pub(crate) fn start(self, app: &Arc<App>, tasks: &TaskTracker, stop: &CancellationToken) {
        tasks.spawn(self.run(Arc::clone(app), tasks.clone(), stop.clone()));
    }

    async fn run(self, app: Arc<App>, tasks: TaskTracker, stop: CancellationToken) {
        let places = Arc::new(Semaphore::new(self.at_once));
        let mut failing = false;
        while !stop.is_cancelled() {
            let free = u32::try_from(places.available_permits()).unwrap_or(u32::MAX);
            let claimed = if free == 0 {
                Ok(Vec::new())
            } else {
                (self.claim)(Arc::clone(&app), free).instrument(tracing::error_span!("claim", worker = self.name)).await
            };
            let claimed = match claimed {
                Ok(claimed) => {
                    failing = false;
                    claimed
                }
                Err(error) => {
                    // Logged once, not at every poll.
                    if !failing {
                        tracing::error!(error = &error as &dyn std::error::Error, "{}", self.failure);
                    }
                    failing = true;
                    Vec::new()
                }
            };
            let may_have_more = free == 0 || !claimed.is_empty();
            for piece in claimed {
                let (work, ended) = ((self.work)(Arc::clone(&app), piece), stop.clone());
                // Never fails: the claim was limited to the free places, and only this loop takes them.
                let place = Arc::clone(&places).try_acquire_owned().ok();
                let at_stop = self.at_stop;
                let working = async move {
                    match at_stop {
                        AtStop::Finish => work.await,
                        AtStop::Drop => {
                            ended.run_until_cancelled(work).await;
                        }
                    }
                    drop(place);
                };
                tasks.spawn(working.instrument(tracing::error_span!("work", worker = self.name)));
            }
            tokio::select! {
                () = stop.cancelled() => {}
                () = (self.nudged)(Arc::clone(&app)) => {}
                () = sleep(EVERY) => {}
                _ = places.acquire(), if may_have_more => sleep(GATHER).await,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use tokio::sync::Notify;

    use super::*;
    use crate::tests::app;

    static CLAIMED: AtomicU32 = AtomicU32::new(0);
    static BEGUN: Notify = Notify::const_new();
    static GO_ON: Notify = Notify::const_new();
    static ENDED: AtomicU32 = AtomicU32::new(0);

    /// One piece, whose work begins and then waits.
    const fn one_piece(at_stop: AtStop) -> Claimed<()> {
        Claimed {
            name: "test",
            failure: "cannot claim",
            at_once: 1,
            at_stop,
            claim: |_, _| {
                let first = CLAIMED.fetch_add(1, Ordering::Relaxed) == 0;
                Box::pin(async move { Ok(if first { vec![()] } else { Vec::new() }) })
            },
            work: |_, ()| {
                Box::pin(async {
                    BEGUN.notify_one();
                    GO_ON.notified().await;
                    ENDED.fetch_add(1, Ordering::Relaxed);
                })
            },
            nudged: |_| Box::pin(std::future::pending()),
        }
    }

    static LEFT: AtomicU32 = AtomicU32::new(3);

    /// The paused clock moves only while everything waits, so the time shows what the loop waited for.
    #[tokio::test(start_paused = true)]
    async fn pieces_that_wait_are_claimed_when_a_place_is_free() {
        const WAITING: Claimed<()> = Claimed {
            name: "test",
            failure: "cannot claim",
            at_once: 1,
            at_stop: AtStop::Finish,
            claim: |_, _| {
                let next = LEFT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
                Box::pin(async move { Ok(next.into_iter().map(|_| ()).collect()) })
            },
            work: |_, ()| Box::pin(async {}),
            nudged: |_| Box::pin(std::future::pending()),
        };
        let (tasks, stop, began) = (TaskTracker::new(), CancellationToken::new(), tokio::time::Instant::now());
        WAITING.start(&app(), &tasks, &stop);
        while LEFT.load(Ordering::Relaxed) > 0 {
            sleep(Duration::from_millis(1)).await;
        }
        assert!(began.elapsed() < EVERY, "{:?}", began.elapsed());
        stop.cancel();
        tasks.close();
        tasks.wait().await;
    }

    #[tokio::test]
    async fn a_stop_drops_a_piece_or_waits_for_it() {
        for (at_stop, ends) in [(AtStop::Drop, 0), (AtStop::Finish, 1)] {
            CLAIMED.store(0, Ordering::Relaxed);
            let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
            one_piece(at_stop).start(&app(), &tasks, &stop);
            BEGUN.notified().await;
            stop.cancel();
            tasks.close();
            if at_stop == AtStop::Finish {
                GO_ON.notify_one();
            }
            tasks.wait().await;
            assert_eq!(ENDED.load(Ordering::Relaxed), ends, "{at_stop:?}");
        }
    }
}
