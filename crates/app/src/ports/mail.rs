//! Sending email.

use async_trait::async_trait;
use kalends_accounts::Email;
pub use kalends_feeds::write::Method as CalendarMethod;
pub use kalends_notifications::LETTER_CLAIM_LASTS;
use kalends_time::Timestamp;
use serde::{Deserialize, Serialize};

/// An email to one address. Stores keep its JSON while it waits to be sent.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mail {
    /// The recipient.
    #[serde(with = "kalends_accounts::stored_address")]
    pub to: Email,
    /// The subject line.
    pub subject: String,
    /// The body as plain text.
    pub text: String,
    /// The same as HTML.
    pub html: String,
    /// The part for calendar programs, if any.
    pub calendar: Option<CalendarPart>,
    /// Whether the recipient agreed to emails of this kind. The limits for email to strangers do not apply then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub agreed: bool,
    /// From this time on it is not worth sending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// The address that replies go to. It is that of the organization when the email is sent, so it is not stored.
    #[serde(skip)]
    pub reply_to: Option<Email>,
}

/// A part of an email that calendar programs read: an iCalendar object with a method (RFC 6047).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CalendarPart {
    /// The method, which the object also names.
    pub method: CalendarMethod,
    /// The object.
    pub text: String,
}

impl std::fmt::Debug for Mail {
    /// Omits the body: it may contain a code.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mail").field("to", &self.to).field("subject", &self.subject).finish_non_exhaustive()
    }
}

/// An email was not accepted for delivery.
#[derive(Debug, thiserror::Error)]
#[error("the email was not accepted")]
pub struct MailError {
    source: Box<dyn std::error::Error + Send + Sync>,
    /// Whether the recipient will never get it.
    lasting: bool,
    /// Whether the recipient may have got it all the same.
    maybe_delivered: bool,
    reply: MailReply,
}

/// What became of an email at the mail server, for the organization that sends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailReply {
    /// The server's reply code (RFC 5321 section 4.2); `None` if there was no reply.
    pub code: Option<u16>,
    /// The text of the reply, or a sentence that says why there was none.
    pub text: String,
}

impl MailError {
    /// A failure that may end.
    pub fn new(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        let reply = MailReply { code: None, text: "The email could not be handed over.".to_owned() };
        Self { source: source.into(), lasting: false, maybe_delivered: false, reply }
    }

    /// A failure that sending the email again does not end: there is no such mailbox.
    pub fn lasting(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self { lasting: true, ..Self::new(source) }
    }

    /// The same failure with what the organization sees of it.
    #[must_use]
    pub fn with_reply(self, reply: MailReply) -> Self {
        Self { reply, ..self }
    }

    /// The same failure after the whole email was sent: nobody knows whether it was accepted.
    #[must_use]
    pub fn maybe_delivered(self) -> Self {
        Self { maybe_delivered: true, ..self }
    }

    /// Whether the recipient may have got the email.
    pub const fn is_maybe_delivered(&self) -> bool {
        self.maybe_delivered
    }

    /// What the organization sees of the failure.
    pub const fn reply(&self) -> &MailReply {
        &self.reply
    }

    /// Whether sending the email again makes no sense.
    pub const fn is_lasting(&self) -> bool {
        self.lasting
    }
}

/// Sends email.
#[async_trait]
pub trait Mailer: Send + Sync {
    /// Hands over one email. Returns `Ok` once it is accepted, with the server's reply if there is a server. It takes less
    /// than [`LETTER_CLAIM_LASTS`], so that no other worker sends the same letter at the same time.
    async fn send(&self, mail: Mail) -> Result<Option<MailReply>, MailError>;

    /// The address that email is sent from. Replies to it are not read.
    fn sender(&self) -> String;
}
