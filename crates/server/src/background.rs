//! The background work of every node, whatever its role: it keeps the callers' keys and the data keys fresh, wakes
//! readers that wait for changes of other nodes, returns the leased units of idle organizations, and writes on which
//! days keys were used. Work that is done once for all nodes belongs to the worker.

use std::{sync::Arc, time::Duration};

use futures::future::BoxFuture;
use kalends_app::App;
use kalends_vault::KeyRing;
use tokio::time::{MissedTickBehavior, interval, sleep};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// How often the epoch of the callers' keys is polled. A cached key is trusted for at most one second.
const PRINCIPALS: Duration = Duration::from_millis(250);
/// How often this node looks for changes that other nodes committed. Nothing is read if no reader waits for changes.
const CHANGES: Duration = Duration::from_millis(250);
/// How often the key table is read. A change takes effect within 2 s.
const KEY_RING: Duration = Duration::from_millis(500);
/// How often the leased units of organizations that have not called for a while are returned.
const LEASES: Duration = Duration::from_secs(60);
/// How often the noted days of keys are written. Nothing is written if no key was used for the first time of a day.
const KEY_USES: Duration = Duration::from_secs(1);
/// The minimum time between two reads of the key table, however many requests ask for one.
const KEY_RING_REST: Duration = Duration::from_millis(50);

/// Starts the loops. They end when `stop` is cancelled.
pub(crate) fn start(app: &Arc<App>, ring: &Arc<KeyRing>, tasks: &TaskTracker, stop: &CancellationToken) {
    let spawn = |duty: BoxFuture<'static, ()>| {
        let ended = stop.clone();
        tasks.spawn(async move { ended.run_until_cancelled(duty).await });
    };
    spawn(Box::pin(keep_principals_fresh(Arc::clone(app))));
    spawn(Box::pin(keep_ring_fresh(Arc::clone(ring))));
    spawn(Box::pin(follow_changes(Arc::clone(app))));
    // This loop is not cancelled in the middle: units that were taken out have to be returned.
    let (leasing, ended) = (Arc::clone(app), stop.clone());
    tasks.spawn(async move {
        while ended.run_until_cancelled(sleep(LEASES)).await.is_some() {
            leasing.return_idle_leases().await;
        }
    });
    // Neither is this one: days that were taken out have to be written.
    let (noting, ended) = (Arc::clone(app), stop.clone());
    tasks.spawn(async move {
        while ended.run_until_cancelled(sleep(KEY_USES)).await.is_some() {
            noting.write_key_uses().await;
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

async fn follow_changes(app: Arc<App>) {
    let mut ticks = interval(CHANGES);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        app.poll_change_feeds().await;
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
                tracing::info!("the data keys can be read again");
            }
            Ok(()) => {}
            // Logged once, not twice a second.
            Err(error) if !failing => {
                failing = true;
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "cannot read the data keys; the ones in memory stay in use"
                );
            }
            Err(_) => {}
        }
        sleep(KEY_RING_REST).await;
    }
}
