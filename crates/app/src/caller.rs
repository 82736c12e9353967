//! A caller with an API key, and what this process keeps for it, so that it is looked up once and not for each
//! request.

use std::sync::Arc;

use kalends_accounts::{Credential, Principal};
use kalends_quotas::{Metric, headers::monthly_policy};

use crate::{
    App,
    metering::Slot,
    ports::{Gate, RateKey},
};

/// The holder of an API key.
pub struct Caller {
    /// The organization or agent that the key acts for.
    pub principal: Arc<Principal>,
    /// The value of the `RateLimit-Policy` header; `None` if the caller's API calls are unlimited.
    pub policy: Option<String>,
    /// The gate that its requests pass; `None` for a session, which has no key, and for limits without a rate.
    pub(crate) gate: Option<Arc<dyn Gate>>,
    pub(crate) calls: Arc<Slot>,
    pub(crate) queries: Arc<Slot>,
}

impl App {
    /// Makes a caller for adapters with their own entrance. Others use [`App::authenticate`].
    pub fn caller(&self, principal: Arc<Principal>) -> Caller {
        let Principal { org, limits, .. } = *principal;
        let gate = match principal.credential {
            Credential::Key(key) => limits.rate().map(|rate| self.limiter.gate(RateKey::Key(key), rate)),
            Credential::Session { .. } => None,
        };
        let slot = |metric| self.meter.slot((org, metric));
        Caller {
            policy: monthly_policy(limits.get(Metric::ApiCalls), org.uuid().as_bytes()),
            gate,
            calls: slot(Metric::ApiCalls),
            queries: slot(Metric::AvailabilityQueries),
            principal,
        }
    }
}
