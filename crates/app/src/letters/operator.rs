//! The email with which the operator tests the sending of mail.

use kalends_accounts::Email;

use super::{Letter, Part};
use crate::ports::Mail;

/// A test email. Nobody but the operator causes it.
pub(crate) fn test_mail(to: &Email, base_url: &str) -> Mail {
    Letter {
        subject: "A test email of Kalends".into(),
        parts: vec![
            Part::Says(
                "the operator of this server sent this email to test whether mail arrives. The server is".into(),
            ),
            Part::Link(base_url.to_owned()),
            Part::Says("There is nothing to do.".into()),
        ],
    }
    .to(to)
}
