//! How fast callers may call: before anything is counted or read (ruling 2.9).

use std::{net::IpAddr, sync::Arc};

use kalends_accounts::{Credential, Email, Principal};
use kalends_kernel::Timestamp;
use kalends_quotas::{IpKey, IpLane, Rate, SIGN_IN_FAILURES, headers::retry_after_seconds};

use crate::{
    App, Caller, Refusal,
    ports::{AccountKey, Admission, Gate, RateKey},
};

impl App {
    /// Lets a request of a key pass, as often in a second as its limits grant. Some organizations have no limit of
    /// speed: their requests all pass here.
    ///
    /// The clock is read at the gate and not when the request arrived: of many at once, one that waited for its key to
    /// be found would seem to come before those that have passed meanwhile, and be one too many.
    ///
    /// # Errors
    /// [`Refusal::TooFast`].
    pub async fn pace_key(&self, caller: &Caller) -> Result<(), Refusal> {
        match (&caller.gate, caller.principal.limits.rate()) {
            (Some(gate), Some(rate)) => pass(&**gate, rate, self.now()).await,
            _ => Ok(()),
        }
    }

    /// Lets a request with a console session pass, as often in a second as the plan of the session's organization grants
    /// one key. All sessions of a human count together.
    ///
    /// # Errors
    /// [`Refusal::TooFast`].
    pub async fn pace_session(&self, principal: &Principal) -> Result<(), Refusal> {
        let (Credential::Session { user, .. }, Some(rate)) = (&principal.credential, principal.limits.rate()) else {
            return Ok(());
        };
        let user = *user;
        pass(&*self.limiter.gate(RateKey::User(user), rate), rate, self.now()).await
    }

    /// Lets somebody try a password of the account with this address. The attempt counts until
    /// [`Gate::give_back`] is called on the gate that is returned: only failures are limited.
    ///
    /// # Errors
    /// [`Refusal::TooFast`], for an account that does not exist as for one that does.
    pub(crate) async fn pace_attempt(&self, email: &Email) -> Result<Arc<dyn Gate>, Refusal> {
        let gate = self.limiter.gate(RateKey::Account(AccountKey::from(email)), SIGN_IN_FAILURES);
        pass(&*gate, SIGN_IN_FAILURES, self.now()).await?;
        Ok(gate)
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

async fn pass(gate: &dyn Gate, rate: Rate, at: Timestamp) -> Result<(), Refusal> {
    match gate.admit(at).await {
        Admission::Admitted => Ok(()),
        Admission::Refused { retry_after } => {
            Err(Refusal::TooFast { rate, retry_after: retry_after_seconds(retry_after) })
        }
    }
}
