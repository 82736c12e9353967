//! The waiting list, the acceptance of terms, and feedback.

use std::borrow::Cow;

use kalends_kernel::OrgId;
use kalends_time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::derives::ToSchema;
#[cfg(feature = "schema")]
use crate::schemas::{AcceptedStatus, SignUpSourceName};

#[cfg(feature = "parse")]
mod parse;
#[cfg(feature = "parse")]
pub use parse::{CheckedFeedback, CheckedJoin};

/// The fields of a request to join the waiting list.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "email": "ada@example.com", "name": "Ada Lovelace", "tos_version": "2026-01-01" }))]
pub struct JoinWaitlist {
    /// The address that is notified when the account is activated.
    #[schema(max_length = 320, format = Email)]
    pub email: String,
    /// A name, 2-100 characters. Defaults to the part of the address before the @.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 2, max_length = 100)]
    pub name: Option<String>,
    /// The version of the current terms (`GET /v1/auth/terms/current`), to accept them when joining.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 64)]
    pub tos_version: Option<String>,
}

/// An entry of the waiting list.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct WaitlistEntry {
    /// The waiting organization, `org_…`.
    #[schema(value_type = String)]
    pub id: OrgId,
    /// The organization's name.
    pub name: String,
    /// The organization's email address.
    pub email: Option<String>,
    /// Whether the organization is still waiting.
    pub is_waitlisted: bool,
    /// When it joined the waiting list. Null once it is active.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub waitlisted_at: Option<Timestamp>,
    /// How the organization was created: `waitlist`, `agent`, `operator` or `console`.
    #[schema(value_type = SignUpSourceName)]
    pub signup_source: Cow<'static, str>,
}

/// The answer to a request to join, and to an activation.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "data": {
        "id": "org_01jn8r6v9ke0bt3m5qz2c7xwdg", "name": "Ada Lovelace", "email": "ada@example.com",
        "is_waitlisted": true, "waitlisted_at": "2026-03-02T08:00:00Z", "signup_source": "waitlist"
    },
    "message": "The address is on the waiting list. You will get an email when the account is activated."
}))]
pub struct JoinedWaitlist {
    /// The entry.
    pub data: WaitlistEntry,
    /// What happens next.
    pub message: Cow<'static, str>,
}

/// The terms to accept.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "tos_version": "2026-01-01" }))]
pub struct AcceptTerms {
    /// The version of the current terms (`GET /v1/auth/terms/current`).
    pub tos_version: String,
}

/// An acceptance of terms.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "data": { "accepted_terms_version": "2026-01-01", "accepted_terms_at": "2026-03-02T08:00:00Z" }
}))]
pub struct TermsAccepted {
    /// The accepted version, and when it was accepted.
    pub data: AcceptedTerms,
}

/// The accepted version, and when it was accepted.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct AcceptedTerms {
    /// The version of the terms.
    pub accepted_terms_version: String,
    /// When the terms were accepted.
    #[schema(value_type = String, format = DateTime)]
    pub accepted_terms_at: Timestamp,
}

/// The type of feedback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum FeedbackType {
    /// Something is wrong.
    Bug,
    /// Something is missing.
    Feature,
    /// Something is harder than it should be.
    Friction,
}

/// Feedback to the operator of the service.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "type": "friction", "message": "It took three tries to find the right time format.",
    "context": { "endpoint": "POST /v1/calendars/:id/events", "http_status": 400 }
}))]
pub struct Feedback {
    /// The type of the feedback.
    pub r#type: FeedbackType,
    /// The message, 10-2000 characters.
    #[schema(min_length = 10, max_length = 2000)]
    pub message: String,
    /// Additional data, at most 16 KiB. Conventional keys are `sdk_name`, `sdk_version`, `endpoint`, `request_id`,
    /// `error_type` and `http_status`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub context: Option<Map<String, Value>>,
}

/// The confirmation that a request was accepted.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({ "status": "accepted" }))]
pub struct Accepted {
    /// Always `accepted`.
    #[schema(value_type = AcceptedStatus)]
    pub status: Cow<'static, str>,
}
