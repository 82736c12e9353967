//! What is allowed so often, whatever the plan.

use kalends_accounts::{Allowance, Taken};
use kalends_quotas::headers::retry_after_seconds;

use crate::{App, Refusal};

impl App {
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
