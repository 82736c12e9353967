//! Parses the requests into values of the domain, and builds the answers from them.

use kalends_accounts::{self as accounts, AGENT_NAME_MAX, Code, Email};
use kalends_kernel::{FieldError, FieldErrors, bounded_text};

use super::{SignUp, Terms, Verify};

/// A sign-up with checked fields. The terms are checked later.
#[derive(Debug, Clone)]
pub struct CheckedSignUp {
    /// The address.
    pub email: Email,
    /// The agent's name.
    pub agent_name: String,
    /// The version of the accepted terms.
    pub tos_version: String,
}

impl SignUp {
    /// Checks every field.
    ///
    /// # Errors
    /// Lists every invalid field.
    pub fn parse(self) -> Result<CheckedSignUp, FieldErrors> {
        let mut errors = FieldErrors::default();
        let email = errors.take(Email::parse("email", &self.email));
        let agent_name = errors.take(bounded_text("agent_name", &self.agent_name, 1, AGENT_NAME_MAX));
        let tos_version = errors.take(bounded_text("tos_version", &self.tos_version, 1, 64));
        match (email, agent_name, tos_version) {
            (Some(email), Some(agent_name), Some(tos_version)) => Ok(CheckedSignUp { email, agent_name, tos_version }),
            _ => Err(errors),
        }
    }
}

impl Verify {
    /// Checks the format.
    ///
    /// # Errors
    /// If it is not six digits.
    pub fn parse(&self) -> Result<Code, FieldErrors> {
        Code::parse(&self.otp).ok_or_else(|| FieldError::new("otp", "must be the 6 digits from the email").into())
    }
}

impl From<&accounts::Terms> for Terms {
    fn from(terms: &accounts::Terms) -> Self {
        Self {
            version: terms.version.clone(),
            effective_at: terms.effective_at.to_string(),
            url: terms.url.clone(),
            material: terms.material,
        }
    }
}
