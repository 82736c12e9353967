//! Background work: expiries, purges and everything else that falls due without a request.
//!
//! A [`Duty`] is data: a period, and the one use case that finds and does what is due. [`start`] runs the same loop
//! for every duty, so a duty decides nothing itself. The use case and its change-sets decide what is due, and ensure
//! that it is done once however many nodes run. A loop takes no input: it wakes at a tick or stops, and repeats the
//! use case until nothing is left.

mod claims;
mod duties;
mod duty;
mod perform;
mod serving;
mod webhooks;

use std::sync::Arc;

use kalends_app::App;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

pub use duties::DUTIES;
pub use duty::Duty;
pub use serving::{UNRECORDED_MAX, serve_webhook};

/// Starts a loop for each of the [`DUTIES`], and the loops that address webhook messages, sync subscriptions, refresh
/// human calendars and publish to them. They end with `stop`. A commit that a duty has begun still happens completely
/// or not at all.
pub fn start(app: &Arc<App>, tasks: &TaskTracker, stop: &CancellationToken) {
    for duty in DUTIES {
        let (app, ended) = (Arc::clone(app), stop.clone());
        tasks.spawn(async move { ended.run_until_cancelled(perform::perform(duty, app)).await });
    }
    claims::SYNCS.start(app, tasks, stop);
    claims::REFRESHES.start(app, tasks, stop);
    claims::PUBLICATIONS.start(app, tasks, stop);
    let (app, ended) = (Arc::clone(app), stop.clone());
    tasks.spawn(async move { ended.run_until_cancelled(webhooks::fan_out(app)).await });
}

/// Starts what sends webhooks and emails. When `stop` is cancelled, nothing more is begun, and what is in flight is
/// finished and recorded. Something that was sent and is not recorded is sent again.
pub fn start_sending(app: &Arc<App>, tasks: &TaskTracker, stop: &CancellationToken) {
    webhooks::send_webhooks(app, tasks, stop);
    claims::LETTERS.start(app, tasks, stop);
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kalends_app::{App, MemoryRateLimiter, Parts};
    use kalends_testkit::{
        Mailbox, MemoryStore, NoCalendarProviders, NoFetcher, NoProviders, NoSender, TestPasswords, TestTokens,
        fixtures::{Fixtures, settings},
    };

    /// An application with an empty store.
    pub(crate) fn app() -> Arc<App> {
        let make = Fixtures::new();
        App::new(Parts {
            store: Arc::new(MemoryStore::new()),
            clock: Arc::new(make.clock.clone()),
            entropy: Arc::new(make.entropy.clone()),
            mailer: Arc::new(Mailbox::default()),
            passwords: Arc::new(TestPasswords::default()),
            tokens: Arc::new(TestTokens),
            calendar_providers: Arc::new(NoCalendarProviders),
            limiter: Arc::new(MemoryRateLimiter::default()),
            providers: Arc::new(NoProviders),
            sender: Arc::new(NoSender),
            fetcher: Arc::new(NoFetcher),
            settings: settings(),
        })
    }
}
