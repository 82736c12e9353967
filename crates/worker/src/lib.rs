//! What is done without a request: expiries, purges, whatever falls due.
//!
//! A [`Duty`] is data: how often it is looked for what is due, and the one use case of the application that looks and
//! does it. One loop ([`start`]) performs them all, so that no duty decides anything for itself: which things are due,
//! and that each is done once however many nodes run, is for the use case and its change-sets. A loop takes no
//! input; a tick or the end wakes it, and it asks again until nothing is left.

mod claims;
mod duties;
mod duty;
mod perform;
mod webhooks;

use std::sync::Arc;

use kalends_app::App;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

pub use duties::DUTIES;
pub use duty::Duty;
pub use webhooks::send_webhooks;

/// Starts a loop for each of the [`DUTIES`] and those that address webhook messages, sync subscriptions, refresh
/// human calendars and send letters, which end with `stop`. What a duty has begun to commit is committed all the same, or not at all.
pub fn start(app: &Arc<App>, tasks: &TaskTracker, stop: &CancellationToken) {
    for duty in DUTIES {
        let (app, ended) = (Arc::clone(app), stop.clone());
        tasks.spawn(async move { ended.run_until_cancelled(perform::perform(duty, app)).await });
    }
    claims::SYNCS.start(app, tasks, stop);
    claims::REFRESHES.start(app, tasks, stop);
    claims::LETTERS.start(app, tasks, stop);
    let (app, ended) = (Arc::clone(app), stop.clone());
    tasks.spawn(async move { ended.run_until_cancelled(webhooks::fan_out(app)).await });
}
