//! The sending of mail.

use askama::Template;

use super::{failed_mail::OperatorFailedMail, frame::OperatorShell, overview::OperatorCount};
use crate::{english::in_english, field::Field, problems::Problems};

/// The fields of the form that sends a test email.
pub const TEST_MAIL_FIELDS: [&str; 1] = ["email"];

/// What to know about a test email.
const ABOUT_TESTS: &str = "At most five an hour. If you reload the answer, another one is sent. An email that the mail \
                           server accepts can still be lost later.";

/// What became of a test email.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperatorMailOutcome<'a> {
    /// Whether it was accepted.
    pub accepted: bool,
    /// The reply code of the mail server, if it replied.
    pub code: Option<u16>,
    /// The text of the reply, or why there was none; empty if there is no mail server.
    pub text: &'a str,
    /// Everything that is known about a failure, for the operator only; empty if there is nothing more to say.
    pub details: &'a str,
}

/// How mail is sent, and the form that sends a test email.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "operator_mail.html")]
pub struct OperatorMail<'a> {
    /// The frame.
    pub shell: &'a OperatorShell,
    /// The setting that says how mail is sent, without a password.
    pub transport: &'a str,
    /// The address that mail is sent from.
    pub sender: &'a str,
    /// Whether mail is only written to files.
    pub keeps_mail: bool,
    /// The emails from the queue that this process has dealt with since it started, by their outcome.
    pub letters: &'a [OperatorCount<'a>],
    /// The emails that failed; `None` if they cannot be read.
    pub failed: Option<OperatorFailedMail<'a>>,
    /// The address that was typed.
    pub email: &'a str,
    /// What became of the test email that was sent just now.
    pub outcome: Option<OperatorMailOutcome<'a>>,
    /// What is wrong with the form.
    pub problems: &'a Problems,
}

impl OperatorMail<'_> {
    fn fields(&self) -> [Field<'_>; 1] {
        let field = Field::email(self.email, self.problems.of("email"));
        [Field { autocomplete: "email", hint: Some(ABOUT_TESTS), ..field }]
    }

    fn is_refused(&self) -> bool {
        self.outcome.is_some_and(|outcome| !outcome.accepted)
    }

    fn has_problem(&self) -> bool {
        self.is_refused() || !self.problems.is_empty()
    }
}

impl OperatorMailOutcome<'_> {
    fn reply(&self) -> Option<String> {
        let code = self.code.map(|code| format!("{code} ")).unwrap_or_default();
        (!self.text.is_empty() || self.code.is_some()).then(|| format!("{code}{}", self.text))
    }
}

in_english!(OperatorMail<'_>);
