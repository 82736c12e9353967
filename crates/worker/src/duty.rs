//! What a duty is.

use std::{sync::Arc, time::Duration};

use futures::future::BoxFuture;
use kalends_app::{App, Done, Refusal};

/// One kind of thing that is done without a request.
pub struct Duty {
    /// The name in metrics.
    pub name: &'static str,
    /// What cannot be done while the duty fails, as the log says it.
    pub failure: &'static str,
    /// How often it is looked for what is due: how late it is noticed at most.
    pub period: Duration,
    /// For how long others come first between two batches.
    pub rest: Duration,
    /// Does a batch of what is due.
    pub run: fn(Arc<App>) -> BoxFuture<'static, Result<Done, Refusal>>,
}
