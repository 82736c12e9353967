//! Self-service sign-up of an agent, and the terms that it accepts.

use std::borrow::Cow;

use kalends_accounts::{self as accounts, AGENT_NAME_MAX, Code, Email};
use kalends_kernel::{AgentId, FieldError, FieldErrors, OrgId, bounded_text};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The fields of a sign-up.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "email": "ada@example.com", "agent_name": "Ada", "tos_version": "2026-01-01" }))]
pub struct SignUp {
    /// The address that receives the verification code.
    #[schema(max_length = 320, format = Email)]
    pub email: String,
    /// The first agent's name, 1-100 characters.
    #[schema(min_length = 1, max_length = 100)]
    pub agent_name: String,
    /// The version of the current terms (`GET /v1/auth/terms/current`). Signing up accepts them.
    pub tos_version: String,
}

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

/// The answer to the first sign-up with an address. The key is shown only in this answer.
#[derive(Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "org_id": "org_01jn8r6v9ke0bt3m5qz2c7xwdg", "agent_id": "agt_01jn8r6v9ke0bt3m5qz2c7xwdh",
    "api_key": "svc_sk_…", "message": "If the address can receive mail, a verification code is on its way."
}))]
pub struct SignedUp {
    /// The new organization.
    #[schema(value_type = String)]
    pub org_id: OrgId,
    /// Its first agent.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// The API key. It works at once, with the sandbox limits.
    pub api_key: String,
    /// A message that is the same for every address.
    pub message: Cow<'static, str>,
}

/// The answer if the address is known already.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct SignUpExisting {
    /// A message that is the same for every address.
    pub message: Cow<'static, str>,
}

/// The answer to a sign-up. It contains more for a new address than for a known one.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum SignUpAnswer {
    /// The address is new.
    New(SignedUp),
    /// The address is known.
    Known(SignUpExisting),
}

/// A verification code.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "otp": "123456" }))]
pub struct Verify {
    /// The six digits from the mail.
    #[schema(pattern = "^[0-9]{6}$")]
    pub otp: String,
}

impl Verify {
    /// Checks the format.
    ///
    /// # Errors
    /// If it is not six digits.
    pub fn parse(&self) -> Result<Code, FieldErrors> {
        Code::parse(&self.otp).ok_or_else(|| FieldError::new("otp", "must be the 6 digits from the mail").into())
    }
}

/// The answer to a correct code.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Verified {
    /// Always true.
    pub verified: bool,
    /// What changes now that the address is verified.
    pub message: Cow<'static, str>,
}

/// The terms in force.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "version": "2026-01-01", "effective_at": "2026-01-01", "url": "https://calendar.example.com/terms", "material": true
}))]
pub struct Terms {
    /// An opaque version. Send it unchanged as `tos_version`.
    pub version: String,
    /// The date on which this version took effect.
    #[schema(format = Date)]
    pub effective_at: String,
    /// The address of the text.
    pub url: String,
    /// Whether the change is material: organizations that accepted another version are then notified.
    pub material: bool,
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
