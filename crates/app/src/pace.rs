//! Rate limits, which apply before anything is counted or read.

use std::{net::IpAddr, sync::Arc};

use kalends_accounts::Email;
use kalends_plans::{IpLane, SIGN_IN_FAILURES};
use kalends_quotas::{IpKey, Rate, retry_after_seconds};
use kalends_time::Timestamp;

use crate::{
    App, Caller, Refusal,
    ports::{AccountKey, Admission, Gate, RateKey},
};

impl App {
    /// Admits a request with a key or a session, up to the rate per second of its organization's limits. Some
    /// organizations have no rate limit: all their requests pass. All sessions of a user share one count.
    ///
    /// The clock is read at the gate, not when the request arrived. Otherwise a request that waited for its key to be
    /// found would appear to come before requests that have already passed, and would exceed the rate.
    ///
    /// # Errors
    /// [`Refusal::TooFast`].
    pub async fn pace_caller(&self, caller: &Caller) -> Result<(), Refusal> {
        match (&caller.gate, caller.principal.limits.rate()) {
            (Some(gate), Some(rate)) => pass(&**gate, rate, self.now()).await,
            _ => Ok(()),
        }
    }

    /// Admits an attempt to use a password for the account with this address. The attempt counts until
    /// [`Gate::give_back`] is called on the returned gate, because only failures are limited.
    ///
    /// # Errors
    /// [`Refusal::TooFast`], whether or not the account exists.
    pub(crate) async fn pace_attempt(&self, email: &Email) -> Result<Arc<dyn Gate>, Refusal> {
        let gate = self.parts.limiter.gate(RateKey::Account(AccountKey::from(email)), SIGN_IN_FAILURES);
        pass(&*gate, SIGN_IN_FAILURES, self.now()).await?;
        Ok(gate)
    }

    /// Admits a request without a key, up to the operator's rate per minute for one address. A request whose address
    /// is unknown passes, because there is nothing to count it by.
    ///
    /// # Errors
    /// [`Refusal::TooFast`].
    pub async fn pace_address(&self, lane: IpLane, address: Option<IpAddr>) -> Result<(), Refusal> {
        self.gate_of_address(lane, address).await.map(drop)
    }

    /// [`Self::pace_address`] with the gate that the request has passed, if there is one. If only failures are limited,
    /// a success is given back to it.
    ///
    /// # Errors
    /// [`Refusal::TooFast`].
    pub(crate) async fn gate_of_address(
        &self,
        lane: IpLane,
        address: Option<IpAddr>,
    ) -> Result<Option<Arc<dyn Gate>>, Refusal> {
        match (self.parts.settings.ip_limits.rate(lane), address) {
            (Some(rate), Some(address)) => {
                let gate = self.parts.limiter.gate(RateKey::Address(lane, IpKey::from(address)), rate);
                pass(&*gate, rate, self.now()).await?;
                Ok(Some(gate))
            }
            _ => Ok(None),
        }
    }
}

async fn pass(gate: &dyn Gate, rate: Rate, at: Timestamp) -> Result<(), Refusal> {
    match gate.admit(at).await {
        Admission::Admitted => Ok(()),
        Admission::Refused { retry_after } => {
            Err(Refusal::TooFast { rate, retry_after: retry_after_seconds(retry_after) })
        }
    }
}
