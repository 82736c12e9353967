//! What every node does for itself beside the requests, whatever its role: keeping the keys of callers and the data
//! keys fresh, and giving back what idle organizations have leased. What is done once for all nodes is the worker's.

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
/// How often it is looked for organizations that have not called for a while, whose leased units are given back.
const LEASES: Duration = Duration::from_secs(60);
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
