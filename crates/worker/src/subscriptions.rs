//! Subscriptions to feeds: a loop that is woken by what this process makes due, and looks every few seconds for the rest.

use std::{sync::Arc, time::Duration};

use kalends_app::App;
use tokio::{sync::Semaphore, time::sleep};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// How often it is looked for what is due: how late a sync begins at most, where there is a place for it.
const EVERY: Duration = Duration::from_secs(1);
/// How many feeds are synced at once. Each may hold 10 MiB, and one that hangs holds its place for 30 s.
const SYNCED_MAX: usize = 4;

/// Starts syncing subscriptions. With `stop` nothing more is begun, and what is being synced is given up where it is: each
/// chunk is committed or not, and another worker goes on once the claim has run out.
pub(crate) fn sync(app: &Arc<App>, tasks: &TaskTracker, stop: &CancellationToken) {
    tasks.spawn(run(Arc::clone(app), tasks.clone(), stop.clone()));
}

async fn run(app: Arc<App>, tasks: TaskTracker, stop: CancellationToken) {
    let places = Arc::new(Semaphore::new(SYNCED_MAX));
    let mut failing = false;
    while !stop.is_cancelled() {
        let free = u32::try_from(places.available_permits()).unwrap_or(u32::MAX);
        let claimed = if free == 0 { Ok(Vec::new()) } else { app.claim_syncs(free).await };
        let claimed = match claimed {
            Ok(claimed) => {
                failing = false;
                claimed
            }
            Err(error) => {
                // Told once, not with every look.
                if !failing {
                    tracing::error!(error = &error as &dyn std::error::Error, "subscriptions cannot be claimed");
                }
                failing = true;
                Vec::new()
            }
        };
        for (claim, subscription) in claimed {
            let (app, ended) = (Arc::clone(&app), stop.clone());
            // There is a place for each: nobody else takes any.
            let place = Arc::clone(&places).try_acquire_owned().ok();
            tasks.spawn(async move {
                ended.run_until_cancelled(app.sync(claim, subscription)).await;
                drop(place);
            });
        }
        tokio::select! {
            () = stop.cancelled() => {}
            () = app.nudged_to_sync() => {}
            () = sleep(EVERY) => {}
        }
    }
}
