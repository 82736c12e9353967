//! Parses the query, and builds the answers from the values of the domain.

use kalends_accounts::{self as accounts, Email};
use kalends_kernel::{FieldError, FieldErrors, LetterId, Page};
use kalends_notifications::{self as domain, LetterRecord, LetterStatus};
use kalends_time::Timestamp;

use super::{EmailReply, EmailStatus, ListMail, PendingReplyTo, PutReplyTo, ReplyTo, SentEmail};

/// The default number of entries per page.
const LIMIT_DEFAULT: i64 = 20;

/// A checked query for emails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailQuery {
    /// Only emails with this status.
    pub status: Option<LetterStatus>,
    /// Only emails older than this one.
    pub before: Option<LetterId>,
    /// The maximum number of entries.
    pub limit: u32,
}

impl ListMail {
    /// Checks every parameter.
    ///
    /// # Errors
    /// Lists every invalid parameter.
    pub fn parse(self) -> Result<MailQuery, FieldErrors> {
        let wrong = |_| FieldError::new("cursor", "must be the `next_cursor` of an earlier page, unchanged");
        let before = self.cursor.map(|text| text.parse().map_err(wrong)).transpose();
        let page = Page::parse(self.limit.or(Some(LIMIT_DEFAULT)), None);
        match (before, page) {
            (Ok(before), Ok(page)) => Ok(MailQuery { status: self.status.map(Into::into), before, limit: page.limit }),
            (before, page) => {
                let mut errors = page.err().unwrap_or_default();
                errors.take(before);
                Err(errors)
            }
        }
    }
}

impl From<LetterStatus> for EmailStatus {
    fn from(status: LetterStatus) -> Self {
        match status {
            LetterStatus::Pending => Self::Pending,
            LetterStatus::Sent => Self::Sent,
            LetterStatus::Refused => Self::Refused,
            LetterStatus::Expired => Self::Expired,
            LetterStatus::Superseded => Self::Superseded,
            LetterStatus::Outdated => Self::Outdated,
        }
    }
}

impl From<EmailStatus> for LetterStatus {
    fn from(status: EmailStatus) -> Self {
        match status {
            EmailStatus::Pending => Self::Pending,
            EmailStatus::Sent => Self::Sent,
            EmailStatus::Refused => Self::Refused,
            EmailStatus::Expired => Self::Expired,
            EmailStatus::Superseded => Self::Superseded,
            EmailStatus::Outdated => Self::Outdated,
        }
    }
}

impl From<domain::ServerReply> for EmailReply {
    fn from(reply: domain::ServerReply) -> Self {
        Self { code: reply.code, text: reply.text, at: reply.at }
    }
}

impl From<LetterRecord> for SentEmail {
    fn from(record: LetterRecord) -> Self {
        Self {
            id: record.id,
            status: record.status.into(),
            to: record.envelope.to,
            subject: record.envelope.subject,
            attempts: record.attempts,
            last_reply: record.envelope.reply.map(Into::into),
            next_attempt_at: record.next_attempt_at,
            created_at: record.created_at,
            ended_at: record.ended_at,
        }
    }
}

impl ReplyTo {
    /// The addresses, as they are at `now`.
    pub fn new(addresses: &accounts::ReplyTo, now: Timestamp) -> Self {
        let text = |email: &Email| email.as_str().to_owned();
        Self {
            email: addresses.in_use().map(text),
            pending: addresses.asked(now).map(|asked| PendingReplyTo {
                email: text(&asked.email),
                asked_at: asked.at,
                expires_at: asked.expires_at(),
            }),
        }
    }
}

impl PutReplyTo {
    /// Checks the address.
    ///
    /// # Errors
    /// If it is no address.
    pub fn parse(&self) -> Result<Email, FieldError> {
        Email::parse("email", &self.email)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_have_the_names_of_the_domain() {
        for status in LetterStatus::ALL {
            let wire = EmailStatus::from(status);
            assert_eq!(serde_json::to_value(wire).unwrap(), status.as_str());
            assert_eq!(LetterStatus::from(wire), status);
        }
    }

    #[test]
    fn every_invalid_parameter_is_named() {
        let query = ListMail { status: None, cursor: Some("evt_01jn8r6v9ke0bt3m5qz2c7xwdh".into()), limit: Some(0) };
        let errors = query.parse().unwrap_err();
        let mut params: Vec<_> = errors.iter().map(|error| error.param.as_str()).collect();
        params.sort_unstable();
        assert_eq!(params, ["cursor", "limit"]);
    }

    #[test]
    fn every_parameter_is_optional() {
        let parsed = ListMail::default().parse().unwrap();
        assert_eq!(parsed, MailQuery { status: None, before: None, limit: 20 });
    }
}
