//! How fast callers may call: before anything is counted or read (ruling 2.9).

use std::net::IpAddr;

use kalends_kernel::Instant;
use kalends_quotas::{IpKey, IpLane, Rate, headers::retry_after_seconds};

use crate::{
    App, Caller, Refusal,
    ports::{Admission, Gate, RateKey},
};

impl App {
    /// Lets a request of a key pass, as often in a second as its plan grants. A session holds no key: its requests
    /// all pass here.
    ///
    /// The clock is read at the gate and not when the request arrived: of many at once, one that waited for its key to
    /// be found would seem to come before those that have passed meanwhile, and be one too many.
    ///
    /// # Errors
    /// [`Refusal::TooFast`].
    pub async fn pace_key(&self, caller: &Caller) -> Result<(), Refusal> {
        match &caller.gate {
            Some(gate) => pass(&**gate, caller.principal.limits.rate(), self.now()).await,
            None => Ok(()),
        }
    }

    /// Lets a request without a key pass, as often in a minute as the operator grants its address. A request
    /// whose address is not known passes: there is nothing to count it under.
    ///
    /// # Errors
    /// [`Refusal::TooFast`].
    pub async fn pace_address(&self, lane: IpLane, address: Option<IpAddr>) -> Result<(), Refusal> {
        match (self.settings.ip_limits.rate(lane), address) {
            (Some(rate), Some(address)) => {
                let gate = self.limiter.gate(RateKey::Address(lane, IpKey::from(address)), rate);
                pass(&*gate, rate, self.now()).await
            }
            _ => Ok(()),
        }
    }
}

async fn pass(gate: &dyn Gate, rate: Rate, at: Instant) -> Result<(), Refusal> {
    match gate.admit(at).await {
        Admission::Admitted => Ok(()),
        Admission::Refused { retry_after } => {
            Err(Refusal::TooFast { rate, retry_after: retry_after_seconds(retry_after) })
        }
    }
}
