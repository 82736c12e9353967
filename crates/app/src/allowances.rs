//! What is allowed so often, whatever the plan.

use kalends_accounts::{Allowance, Taken};

use crate::{App, Refusal};

/// What is allowed so often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limited {
    /// Sign-ups with addresses of one mail domain.
    SignUps,
    /// Exports of an organization.
    Exports,
    /// Feedback of an organization.
    Feedback,
    /// Claims of a human.
    Claims,
}

impl Limited {
    /// What is told of it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SignUps => "10 sign-ups an hour are allowed with addresses of one mail domain",
            Self::Exports => "10 exports an hour are allowed",
            Self::Claims => "20 claims an hour may be initiated by one human",
            Self::Feedback => "25 pieces of feedback a UTC day are allowed",
        }
    }
}

impl App {
    /// Takes one use of an allowance, in the store, so that all nodes count together.
    ///
    /// # Errors
    /// [`Refusal::TooMany`] where it is used up.
    pub(crate) async fn allow(&self, allowance: &Allowance, limited: Limited) -> Result<(), Refusal> {
        match self.store.take(allowance, self.now()).await? {
            Taken::Granted { .. } => Ok(()),
            Taken::Refused { retry_after } => {
                // Rounded up: who comes back then is let in.
                let seconds = (retry_after.as_micros() + 999_999) / 1_000_000;
                Err(Refusal::TooMany { limited, retry_after: seconds.max(1) })
            }
        }
    }
}
