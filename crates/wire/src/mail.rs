//! The emails that Kalends sends for an organization.

use kalends_kernel::LetterId;
use kalends_time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    CursorPagination,
    derives::{IntoParams, ToSchema},
};

#[cfg(feature = "parse")]
mod parse;
#[cfg(feature = "parse")]
pub use parse::MailQuery;

/// Selects a part of an organization's emails.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListMail {
    /// Only emails with this status.
    pub status: Option<EmailStatus>,
    /// The `next_cursor` of the previous page.
    #[param(example = "eml_01jn8r6v9ke0bt3m5qz2c7xwdh")]
    pub cursor: Option<String>,
    /// The maximum number of entries per page, 1-200.
    #[param(minimum = 1, maximum = 200, default = 20)]
    pub limit: Option<i64>,
}

/// The status of an email.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum EmailStatus {
    /// It waits to be sent, or sent again.
    Pending,
    /// The mail server accepted it.
    Sent,
    /// The mail server refused the recipient's address for good.
    Refused,
    /// It was given up after three days.
    Expired,
    /// A newer email to the same recipient about the same event took its place.
    Superseded,
    /// It was not sent, because what it announced is over.
    Outdated,
}

/// The outcome of an attempt to hand an email to the mail server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EmailReply {
    /// The server's reply code (RFC 5321). 4xx may end, 5xx usually lasts. Null if the server did not reply.
    pub code: Option<u16>,
    /// The text of the reply, or a sentence that says why there was none. At most 300 characters.
    pub text: String,
    /// When the attempt ended.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
}

/// An email that Kalends sends for the organization.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct SentEmail {
    /// The identifier, `eml_…`.
    #[schema(value_type = String)]
    pub id: LetterId,
    /// The status.
    pub status: EmailStatus,
    /// The recipient's address.
    pub to: String,
    /// The subject line.
    pub subject: String,
    /// The number of attempts that ended.
    pub attempts: u32,
    /// The outcome of the last attempt. Null before the first one, and if there is no mail server.
    pub last_reply: Option<EmailReply>,
    /// When the next attempt is due. Null unless the email is pending.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub next_attempt_at: Option<Timestamp>,
    /// When the email was written.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it was sent or given up. Null while it is pending.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ended_at: Option<Timestamp>,
}

/// A page of an organization's emails, the newest first.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "data": [{
        "id": "eml_01jn8r8f4h3gyqz7s9c1b5wnkd", "status": "pending", "to": "grace@example.com",
        "subject": "Invitation: Planning", "attempts": 1,
        "last_reply": { "code": 451, "text": "4.7.1 Greylisted, try again later", "at": "2026-03-02T08:00:01Z" },
        "next_attempt_at": "2026-03-02T08:01:01Z", "created_at": "2026-03-02T08:00:00Z", "ended_at": null
    }],
    "pagination": { "next_cursor": null }
}))]
pub struct MailList {
    /// The emails.
    pub data: Vec<SentEmail>,
    /// The position of the next page.
    pub pagination: CursorPagination,
}

/// The addresses that replies to the organization's emails go to.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "email": "team@example.com",
    "pending": {
        "email": "office@example.com", "asked_at": "2026-03-02T08:00:00Z", "expires_at": "2026-03-09T08:00:00Z"
    }
}))]
pub struct ReplyTo {
    /// The address in use. Its owner has agreed. Null if there is none, and nobody reads replies.
    pub email: Option<String>,
    /// The address that was asked and can still agree. Null if there is none.
    pub pending: Option<PendingReplyTo>,
}

/// An address that was asked whether replies may go to it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct PendingReplyTo {
    /// The address.
    pub email: String,
    /// When it was asked.
    #[schema(value_type = String, format = DateTime)]
    pub asked_at: Timestamp,
    /// Until when it can agree.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
}

/// The address for replies.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "email": "team@example.com" }))]
pub struct PutReplyTo {
    /// The address. Unless it has agreed already, it gets an email with a link to agree.
    #[schema(max_length = 320, format = Email)]
    pub email: String,
}

/// The answer of an address that was asked whether replies may go to it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "agrees": true }))]
pub struct AnswerReplyLink {
    /// Whether replies may go to the address. False also ends replies that went there before.
    pub agrees: bool,
}

/// The address and its answer.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({ "email": "team@example.com", "agrees": true }))]
pub struct AnsweredReplyLink {
    /// The address.
    pub email: String,
    /// Whether replies go to it now.
    pub agrees: bool,
}
