//! Self-service sign-up of an agent, and the terms that it accepts.

use std::borrow::Cow;

use kalends_kernel::{AgentId, OrgId};
use serde::{Deserialize, Serialize};

use crate::derives::ToSchema;

#[cfg(feature = "parse")]
mod parse;
#[cfg(feature = "parse")]
pub use parse::CheckedSignUp;

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
    /// The six digits from the email.
    #[schema(pattern = "^[0-9]{6}$")]
    pub otp: String,
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
    /// Whether the change is material. If so, organizations that accepted another version are notified.
    pub material: bool,
}
