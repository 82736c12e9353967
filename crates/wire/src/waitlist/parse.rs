//! Parses the requests into values of the domain, and builds the answers from them.

use kalends_accounts::{Email, Organization, WaitingName};
use kalends_kernel::{FieldErrors, Metadata, bounded_text};
use serde_json::Value;

use super::{AcceptTerms, Feedback, FeedbackType, JoinWaitlist, WaitlistEntry};

/// A request to join, with checked fields. The terms are checked later.
#[derive(Debug, Clone)]
pub struct CheckedJoin {
    /// The address.
    pub email: Email,
    /// The name.
    pub name: WaitingName,
    /// The version of the accepted terms, if any.
    pub tos_version: Option<String>,
}

impl JoinWaitlist {
    /// Checks every field.
    ///
    /// # Errors
    /// Lists every invalid field.
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

impl From<&Organization> for WaitlistEntry {
    fn from(organization: &Organization) -> Self {
        let waitlisted_at = organization.waitlist.since();
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

impl AcceptTerms {
    /// Checks the bounds.
    ///
    /// # Errors
    /// If the version is out of bounds.
    pub fn parse(&self) -> Result<String, FieldErrors> {
        bounded_text("tos_version", &self.tos_version, 1, 64).map_err(FieldErrors::from)
    }
}

impl FeedbackType {
    /// The JSON name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Bug => "bug",
            Self::Feature => "feature",
            Self::Friction => "friction",
        }
    }
}

/// Feedback with checked fields.
#[derive(Debug, Clone)]
pub struct CheckedFeedback {
    /// The type of the feedback.
    pub kind: FeedbackType,
    /// The message.
    pub message: String,
    /// The additional data.
    pub context: Metadata,
}

impl Feedback {
    /// Checks every field.
    ///
    /// # Errors
    /// Lists every invalid field.
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
