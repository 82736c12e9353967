//! What is allowed so often, whatever the plan.

use kalends_accounts::{Allowance, Email, Taken};
use kalends_quotas::headers::retry_after_seconds;

use crate::{App, Refusal, Request};

impl App {
    /// What a sign-up with that address counts as.
    pub(crate) fn sign_ups(&self, email: &Email, request: &Request) -> Allowance {
        Allowance::sign_ups(email, &self.settings.public_mail_domains, request.ip)
    }

    /// Takes one use of an allowance, in the store, so that all nodes count together.
    ///
    /// # Errors
    /// [`Refusal::TooMany`] where it is used up.
    pub(crate) async fn allow(&self, allowance: &Allowance) -> Result<(), Refusal> {
        match self.store.take(allowance, self.now()).await? {
            Taken::Granted(_) => Ok(()),
            Taken::Refused { retry_after } => {
                Err(Refusal::TooMany { limited: allowance.limited, retry_after: retry_after_seconds(retry_after) })
            }
        }
    }
}
