//! A caller with an API key or a session, and what this process keeps for a key, so that the key is not looked up for
//! each request.

use std::sync::Arc;

use kalends_accounts::Principal;
use kalends_time::Timestamp;

use crate::{Leased, meter::Slot, ports::Gate};

/// The holder of an API key or of a session.
pub struct Caller {
    /// The organization, agent or user that the credential acts for.
    pub principal: Arc<Principal>,
    /// The value of the `RateLimit-Policy` header; `None` if the caller's API calls are unlimited.
    pub policy: Option<String>,
    /// The gate that its requests pass; `None` for limits without a rate.
    pub(crate) gate: Option<Arc<dyn Gate>>,
    pub(crate) calls: Arc<Slot>,
    pub(crate) queries: Arc<Slot>,
}

impl Caller {
    pub(crate) const fn slot(&self, metric: Leased) -> &Arc<Slot> {
        match metric {
            Leased::ApiCalls => &self.calls,
            Leased::AvailabilityQueries => &self.queries,
        }
    }

    /// How much of the limit is left for the caller's organization in the month of `at`, as far as this process
    /// knows; `None` means unlimited.
    pub fn left(&self, metric: Leased, at: Timestamp) -> Option<u64> {
        let limit = self.principal.limits.get(metric.metric());
        self.slot(metric).lease().remaining(at, limit)
    }
}
