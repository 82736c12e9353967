//! The waiting list, the acceptance of terms, and feedback.

use std::borrow::Cow;

use kalends_accounts::{Email, Organization, WaitingName, Waitlist};
use kalends_kernel::{FieldErrors, Metadata, OrgId, Timestamp, bounded_text};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::schemas::{AcceptedStatus, SignUpSourceName};

/// What is needed to join the waiting list.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "email": "ada@example.com", "name": "Ada Lovelace", "tos_version": "2026-01-01" }))]
pub struct JoinWaitlist {
    /// The address that is told of the activation.
    #[schema(max_length = 320, format = Email)]
    pub email: String,
    /// 2-100 characters; the part of the address before the @ unless told.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 2, max_length = 100)]
    pub name: Option<String>,
    /// The current terms, see `GET /v1/auth/terms/current`, where they are accepted already.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 64)]
    pub tos_version: Option<String>,
}

/// A request to join whose fields are checked; the terms are not yet.
#[derive(Debug, Clone)]
pub struct CheckedJoin {
    /// The address.
    pub email: Email,
    /// The name.
    pub name: WaitingName,
    /// The terms that are accepted, if any.
    pub tos_version: Option<String>,
}

impl JoinWaitlist {
    /// Checks every field.
    ///
    /// # Errors
    /// All fields at fault.
    pub fn parse(self) -> Result<CheckedJoin, FieldErrors> {
        let mut errors = FieldErrors::default();
        let email = errors.take(Email::parse("email", &self.email));
        let name = errors.take(self.name.as_deref().map(|name| WaitingName::parse("name", name)).transpose());
        let tos_version = self.tos_version.as_deref();
        let tos_version = errors.take(tos_version.map(|text| bounded_text("tos_version", text, 1, 64)).transpose());
        match (email, name, tos_version) {
            (Some(email), Some(name), Some(tos_version)) => {
                let name = name.unwrap_or_else(|| WaitingName::of(&email));
                Ok(CheckedJoin { email, name, tos_version })
            }
            _ => Err(errors),
        }
    }
}

/// A place on the waiting list.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct WaitlistEntry {
    /// The organization that waits, `org_…`.
    #[schema(value_type = String)]
    pub id: OrgId,
    /// Its name.
    pub name: String,
    /// Its address.
    pub email: Option<String>,
    /// Whether it waits.
    pub is_waitlisted: bool,
    /// Since when it waits; null once it is active.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub waitlisted_at: Option<Timestamp>,
    /// How it came to be: `waitlist`, `agent`, `operator` or `console`.
    #[schema(value_type = SignUpSourceName)]
    pub signup_source: Cow<'static, str>,
}

impl From<&Organization> for WaitlistEntry {
    fn from(organization: &Organization) -> Self {
        let waitlisted_at = match organization.waitlist {
            Waitlist::Active => None,
            Waitlist::Since(at) => Some(at),
        };
        Self {
            id: organization.id,
            name: organization.name.as_str().to_owned(),
            email: organization.email.as_ref().map(|email| email.as_str().to_owned()),
            is_waitlisted: waitlisted_at.is_some(),
            waitlisted_at,
            signup_source: organization.source.as_str().into(),
        }
    }
}

/// The answer to joining, and to an activation.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "data": {
        "id": "org_01jn8r6v9ke0bt3m5qz2c7xwdg", "name": "Ada Lovelace", "email": "ada@example.com",
        "is_waitlisted": true, "waitlisted_at": "2026-03-02T08:00:00Z", "signup_source": "waitlist"
    },
    "message": "The address is on the waiting list. You will get an email when the account is activated."
}))]
pub struct JoinedWaitlist {
    /// The place.
    pub data: WaitlistEntry,
    /// What happens next.
    pub message: Cow<'static, str>,
}

/// The terms that are accepted.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "tos_version": "2026-01-01" }))]
pub struct AcceptTerms {
    /// The current version, see `GET /v1/auth/terms/current`.
    pub tos_version: String,
}

impl AcceptTerms {
    /// Checks the bounds.
    ///
    /// # Errors
    /// A version out of bounds.
    pub fn parse(&self) -> Result<String, FieldErrors> {
        bounded_text("tos_version", &self.tos_version, 1, 64).map_err(FieldErrors::from)
    }
}

/// The acceptance of terms.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "data": { "accepted_terms_version": "2026-01-01", "accepted_terms_at": "2026-03-02T08:00:00Z" }
}))]
pub struct TermsAccepted {
    /// What was accepted, and when.
    pub data: AcceptedTerms,
}

/// What was accepted, and when.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct AcceptedTerms {
    /// The version.
    pub accepted_terms_version: String,
    /// When it was accepted.
    #[schema(value_type = String, format = DateTime)]
    pub accepted_terms_at: Timestamp,
}

/// What feedback is about.
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

impl FeedbackType {
    /// The name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Bug => "bug",
            Self::Feature => "feature",
            Self::Friction => "friction",
        }
    }
}

/// Feedback to the operator of the service.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "type": "friction", "message": "It took three tries to find the right time format.",
    "context": { "endpoint": "POST /v1/calendars/:id/events", "http_status": 400 }
}))]
pub struct Feedback {
    /// What it is about.
    pub r#type: FeedbackType,
    /// 10-2000 characters.
    #[schema(min_length = 10, max_length = 2000)]
    pub message: String,
    /// Whatever helps, at most 16 KiB: `sdk_name`, `sdk_version`, `endpoint`, `request_id`, `error_type` and
    /// `http_status` by convention.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub context: Option<Map<String, Value>>,
}

/// Feedback whose fields are checked.
#[derive(Debug, Clone)]
pub struct CheckedFeedback {
    /// What it is about.
    pub kind: FeedbackType,
    /// The message.
    pub message: String,
    /// What helps.
    pub context: Metadata,
}

impl Feedback {
    /// Checks every field.
    ///
    /// # Errors
    /// All fields at fault.
    pub fn parse(self) -> Result<CheckedFeedback, FieldErrors> {
        let mut errors = FieldErrors::default();
        let message = errors.take(bounded_text("message", &self.message, 10, 2_000));
        let context = errors.take(Metadata::parse("context", Value::Object(self.context.unwrap_or_default())));
        match (message, context) {
            (Some(message), Some(context)) => Ok(CheckedFeedback { kind: self.r#type, message, context }),
            _ => Err(errors),
        }
    }
}

/// That something was taken in.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({ "status": "accepted" }))]
pub struct Accepted {
    /// `accepted`
    #[schema(value_type = AcceptedStatus)]
    pub status: Cow<'static, str>,
}
