//! What runs beside the requests: keeping the keys of callers and the data keys fresh, ending holds, letting claims
//! take effect, giving back what idle organizations have leased, and removing what is kept no longer.

use std::{sync::Arc, time::Duration};

use futures::future::BoxFuture;
use kalends_app::App;
use kalends_vault::KeyRing;
use tokio::time::{MissedTickBehavior, interval, sleep};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// How often the epoch of the callers' keys is polled; a cached key is trusted for a second at most.
const PRINCIPALS: Duration = Duration::from_millis(250);
/// How often the key table is read, so that a change of it is heeded within 2 s.
const KEY_RING: Duration = Duration::from_millis(500);
/// How often it is looked for holds that are over. They block nothing from the instant at which they expire;
/// this is how late their status and their announcement may be.
const HOLDS: Duration = Duration::from_secs(1);
/// How many of them are ended at once.
const HOLDS_AT_ONCE: u32 = 256;
/// How often it is looked for claims whose hold is over: this is how late a human becomes the owner at most.
const CLAIMS: Duration = Duration::from_secs(1);
/// How many of them take effect at once.
const CLAIMS_AT_ONCE: u32 = 64;
/// How often it is looked for organizations that have not called for a while, whose leased units are given back.
const LEASES: Duration = Duration::from_secs(60);
/// How often what is kept no longer is looked for: entries of the audit log; counts, answers and sessions that have
/// expired; claims that have ended.
const PURGE: Duration = Duration::from_secs(15 * 60);
/// How often it is looked for accounts that were deleted.
const DELETIONS: Duration = Duration::from_secs(2);
/// How many rows of a kind are removed at once, so that nobody waits long behind them.
const PURGE_AT_ONCE: u32 = 500;
/// How long others come first between two batches.
const PURGE_REST: Duration = Duration::from_millis(50);
/// The least time between two readings of the key table, however many values ask for one.
const KEY_RING_REST: Duration = Duration::from_millis(50);

/// Starts the loops; they end with `stop`.
pub(crate) fn start(app: &Arc<App>, ring: &Arc<KeyRing>, tasks: &TaskTracker, stop: &CancellationToken) {
    let beside = |duty: BoxFuture<'static, ()>| {
        let ended = stop.clone();
        tasks.spawn(async move { ended.run_until_cancelled(duty).await });
    };
    beside(Box::pin(keep_principals_fresh(Arc::clone(app))));
    beside(Box::pin(keep_ring_fresh(Arc::clone(ring))));
    beside(Box::pin(end_expired_holds(Arc::clone(app))));
    beside(Box::pin(settle_claims(Arc::clone(app))));
    beside(Box::pin(purge(Arc::clone(app))));
    beside(Box::pin(remove_deleted_accounts(Arc::clone(app))));
    // Not ended in the middle: units that were taken out have to be given back.
    let (leasing, ended) = (Arc::clone(app), stop.clone());
    tasks.spawn(async move {
        while ended.run_until_cancelled(sleep(LEASES)).await.is_some() {
            leasing.return_idle_leases().await;
        }
    });
}

async fn keep_principals_fresh(app: Arc<App>) {
    let mut ticks = interval(PRINCIPALS);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        app.refresh_principals().await;
    }
}

/// Writes of holds that are over that they are.
async fn end_expired_holds(app: Arc<App>) {
    let mut ticks = interval(HOLDS);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut failing = false;
    loop {
        ticks.tick().await;
        loop {
            match app.expire_holds(HOLDS_AT_ONCE).await {
                Ok(ended) => {
                    failing = false;
                    // Fewer than asked for: that was all.
                    if ended < HOLDS_AT_ONCE as usize {
                        break;
                    }
                }
                Err(error) => {
                    if !failing {
                        tracing::error!(error = &error as &dyn std::error::Error, "expired holds cannot be ended");
                    }
                    failing = true;
                    break;
                }
            }
        }
    }
}

/// Makes owners of humans whose claims have been on hold for long enough.
async fn settle_claims(app: Arc<App>) {
    let mut ticks = interval(CLAIMS);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut failing = false;
    loop {
        ticks.tick().await;
        match app.settle_claims(CLAIMS_AT_ONCE).await {
            // What is more waits for the next tick.
            Ok(_) => failing = false,
            Err(error) => {
                if !failing {
                    tracing::error!(error = &error as &dyn std::error::Error, "claims cannot take effect");
                }
                failing = true;
            }
        }
    }
}

/// Removes what is kept no longer, a batch at a time. What fails is tried again with the next tick.
async fn purge(app: Arc<App>) {
    let mut ticks = interval(PURGE);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        while !purge_batch(&app).await {
            sleep(PURGE_REST).await;
        }
    }
}

/// Removes a batch of each kind, and says whether that was all, or all that can be done now.
async fn purge_batch(app: &App) -> bool {
    let purged = async {
        let entries = app.purge_audit(PURGE_AT_ONCE).await?;
        let counts = app.forget_allowances(PURGE_AT_ONCE).await?;
        let answers = app.forget_answers(PURGE_AT_ONCE).await?;
        let sessions = app.forget_sessions(PURGE_AT_ONCE).await?;
        let claims = app.forget_claims(PURGE_AT_ONCE).await?;
        Ok::<_, kalends_app::Refusal>(entries && counts && answers && sessions && claims)
    };
    purged.await.unwrap_or_else(|error| {
        tracing::error!(error = &error as &dyn std::error::Error, "what is kept no longer cannot be removed");
        true
    })
}

/// Removes what deleted accounts have left, a batch at a time.
async fn remove_deleted_accounts(app: Arc<App>) {
    let mut ticks = interval(DELETIONS);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut failing = false;
    loop {
        ticks.tick().await;
        loop {
            match app.remove_deleted_accounts(PURGE_AT_ONCE).await {
                Ok(all) => {
                    failing = false;
                    if all {
                        break;
                    }
                }
                Err(error) => {
                    if !failing {
                        tracing::error!(error = &error as &dyn std::error::Error, "deleted accounts cannot be removed");
                    }
                    failing = true;
                    break;
                }
            }
            sleep(PURGE_REST).await;
        }
    }
}

async fn keep_ring_fresh(ring: Arc<KeyRing>) {
    let mut ticks = interval(KEY_RING);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut failing = false;
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = ring.nudged() => {}
        }
        match ring.refresh().await {
            Ok(()) if failing => {
                failing = false;
                tracing::info!("the data keys are read again");
            }
            Ok(()) => {}
            // Told once, not twice a second.
            Err(error) if !failing => {
                failing = true;
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "the data keys cannot be read; those at hand stay in use"
                );
            }
            Err(_) => {}
        }
        sleep(KEY_RING_REST).await;
    }
}
