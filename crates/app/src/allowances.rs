//! Allowances: limits that do not depend on the plan.

use kalends_accounts::{Allowance, Email, Taken};
use kalends_quotas::retry_after_seconds;

use crate::{App, Refusal, Request};

impl App {
    /// The allowance that a sign-up with that address counts against.
    pub(crate) fn sign_ups(&self, email: &Email, request: &Request) -> Allowance {
        Allowance::sign_ups(email, &self.parts.settings.public_mail_domains, request.ip)
    }

    /// Counts a sign-up of a person with that address.
    ///
    /// # Errors
    /// [`Refusal::TooMany`] if too many signed up with addresses of the mail domain, and the sign-ups that are reserved
    /// for the person's network are used up too.
    pub(crate) async fn allow_person(&self, email: &Email, request: &Request) -> Result<(), Refusal> {
        let public = &self.parts.settings.public_mail_domains;
        let is_reserved = match Allowance::reserved_sign_ups(email, public, request.ip) {
            Some(reserved) => match self.allow(&reserved).await {
                Ok(()) => true,
                Err(Refusal::TooMany { .. }) => false,
                Err(refusal) => return Err(refusal),
            },
            None => false,
        };
        match self.allow(&self.sign_ups(email, request)).await {
            Err(Refusal::TooMany { .. }) if is_reserved => Ok(()),
            outcome => outcome,
        }
    }

    /// Takes one use of an allowance. The store counts, so that all nodes share the count.
    ///
    /// # Errors
    /// [`Refusal::TooMany`] if it is used up.
    pub(crate) async fn allow(&self, allowance: &Allowance) -> Result<(), Refusal> {
        match self.parts.store.take(allowance, self.now()).await? {
            Taken::Granted(_) => Ok(()),
            Taken::Refused { retry_after } => {
                Err(Refusal::TooMany { limited: allowance.limited, retry_after: retry_after_seconds(retry_after) })
            }
        }
    }
}
