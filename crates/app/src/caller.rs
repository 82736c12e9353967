//! Whoever calls with an API key, with what this process keeps at hand for them: found once, and not for each request.

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
    /// Whom the key speaks for.
    pub principal: Arc<Principal>,
    /// What `RateLimit-Policy` tells them; `None` where their API calls are unlimited.
    pub policy: Option<String>,
    /// What their requests pass; none for a session, which holds no key, and for limits without a rate.
    pub(crate) gate: Option<Arc<dyn Gate>>,
    pub(crate) calls: Arc<Slot>,
    pub(crate) queries: Arc<Slot>,
}

impl App {
    /// A caller, for whoever has an entrance of their own; others ask [`App::authenticate`].
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
