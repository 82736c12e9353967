//! The type of a duty.

use std::{sync::Arc, time::Duration};

use futures::future::BoxFuture;
use kalends_app::{App, Done, Refusal};

/// One kind of work that no request starts.
pub struct Duty {
    /// The name in metrics.
    pub name: &'static str,
    /// The log message when the duty fails.
    pub failure: &'static str,
    /// How often the duty looks for due work: the longest delay before it notices.
    pub period: Duration,
    /// The pause between two batches, so that other work gets its turn.
    pub rest: Duration,
    /// Does one batch of what is due.
    pub run: fn(Arc<App>) -> BoxFuture<'static, Result<Done, Refusal>>,
}
