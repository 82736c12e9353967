//! How fast callers may call: before anything is counted or read (ruling 2.9).

use std::net::IpAddr;

use kalends_accounts::{Credential, Principal};
use kalends_kernel::Instant;
use kalends_quotas::{IpKey, IpLane, Rate, headers::retry_after_seconds};

use crate::{
    App, Refusal,
    ports::{Admission, RateKey},
};

impl App {
    /// Lets a request of a key pass, as often in a second as its plan grants. A session holds no key: its requests
    /// all pass here.
    ///
    /// # Errors
    /// [`Refusal::TooFast`].
    pub async fn pace_key(&self, principal: &Principal, at: Instant) -> Result<(), Refusal> {
        match principal.credential {
            Credential::Key(key) => self.pace(RateKey::Key(key), principal.limits.rate(), at).await,
            Credential::Session { .. } => Ok(()),
        }
    }

    /// Lets a request without a key pass, as often in a minute as the operator grants its address. A request
    /// whose address is not known passes: there is nothing to count it under.
    ///
    /// # Errors
    /// [`Refusal::TooFast`].
    pub async fn pace_address(&self, lane: IpLane, address: Option<IpAddr>, at: Instant) -> Result<(), Refusal> {
        match (self.settings.ip_limits.rate(lane), address) {
            (Some(rate), Some(address)) => self.pace(RateKey::Address(lane, IpKey::from(address)), rate, at).await,
            _ => Ok(()),
        }
    }

    async fn pace(&self, key: RateKey, rate: Rate, at: Instant) -> Result<(), Refusal> {
        match self.limiter.admit(key, rate, at).await {
            Admission::Admitted => Ok(()),
            Admission::Refused { retry_after } => {
                Err(Refusal::TooFast { rate, retry_after: retry_after_seconds(retry_after) })
            }
        }
    }
}
