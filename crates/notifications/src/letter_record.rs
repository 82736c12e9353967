//! The record of a letter: what its organization sees of it, while it waits and after it has ended.

use std::fmt;

use kalends_kernel::{LetterId, OrgId};
use kalends_time::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// How long a record is kept after its letter was written.
pub const LETTER_RECORDS_KEPT: SignedDuration = SignedDuration::days(30);
/// The longest text of a server that is kept, in characters.
const REPLY_MAX: usize = 300;

/// The parts of a letter that its organization sees. They are sealed at rest.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Envelope {
    /// The recipient's address.
    pub to: String,
    /// The subject line.
    pub subject: String,
    /// The outcome of the last attempt; `None` before the first one, and if no server took part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<ServerReply>,
}

impl fmt::Debug for Envelope {
    /// Omits the address, the subject and the reply, which often repeats the address.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Envelope(…)")
    }
}

/// The outcome of an attempt to hand a letter to the mail server.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerReply {
    /// The reply code (RFC 5321 section 4.2); `None` if the server did not reply.
    pub code: Option<u16>,
    /// The text of the reply, or why there was none: one line of at most 300 characters.
    pub text: String,
    /// When the attempt ended.
    pub at: Timestamp,
}

impl ServerReply {
    /// A reply with a text of any length and any number of lines.
    pub fn new(code: Option<u16>, text: &str, at: Timestamp) -> Self {
        let words = text.split(|letter: char| letter.is_whitespace() || letter.is_control());
        let line = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        let text = if line.chars().count() > REPLY_MAX {
            format!("{}…", line.chars().take(REPLY_MAX - 1).collect::<String>().trim_end())
        } else {
            line
        };
        Self { code, text, at }
    }
}

impl fmt::Debug for ServerReply {
    /// Omits the text, which often contains an address.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerReply").field("code", &self.code).field("at", &self.at).finish_non_exhaustive()
    }
}

/// The state of a letter, as its organization sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LetterStatus {
    /// To be sent, or sent again.
    Pending,
    /// The mail server accepted it.
    Sent,
    /// The mail server refused the recipient's address.
    Refused,
    /// It was given up after three days of failures, or of waiting for the recipient's limit.
    Expired,
    /// A newer letter to the same recipient took its place.
    Superseded,
    /// It was not worth sending any more: what it announced is over.
    Outdated,
}

impl LetterStatus {
    /// Every status.
    pub const ALL: [Self; 6] =
        [Self::Pending, Self::Sent, Self::Refused, Self::Expired, Self::Superseded, Self::Outdated];

    /// The name in responses and stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Sent => "sent",
            Self::Refused => "refused",
            Self::Expired => "expired",
            Self::Superseded => "superseded",
            Self::Outdated => "outdated",
        }
    }

    /// The status with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == name)
    }
}

/// The end of the work on a claimed letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LetterEnd {
    /// It was sent. It is removed, together with older letters to the same recipient about the same event, because it
    /// has the current state.
    Sent,
    /// It is not sent, and is removed.
    Dropped(DropReason),
    /// It is due again at this time.
    PutOff(Timestamp),
}

/// Why a letter is not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropReason {
    /// The mail server refused the recipient's address.
    Refused,
    /// It has waited for three days, or would have to.
    Expired,
    /// A newer letter has the current state.
    Superseded,
    /// What it announced is over.
    Outdated,
}

impl DropReason {
    /// The status that the organization sees.
    pub const fn status(self) -> LetterStatus {
        match self {
            Self::Refused => LetterStatus::Refused,
            Self::Expired => LetterStatus::Expired,
            Self::Superseded => LetterStatus::Superseded,
            Self::Outdated => LetterStatus::Outdated,
        }
    }
}

/// What a worker records when it is done with a claimed letter for now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LetterWork {
    /// The end of the work.
    pub end: LetterEnd,
    /// The letter with the outcome of the attempt; `None` if there was no attempt.
    pub attempt: Option<Envelope>,
    /// When the work ended.
    pub at: Timestamp,
}

impl LetterWork {
    /// The status of the letter after the work.
    pub const fn status(&self) -> LetterStatus {
        match self.end {
            LetterEnd::Sent => LetterStatus::Sent,
            LetterEnd::Dropped(reason) => reason.status(),
            LetterEnd::PutOff(_) => LetterStatus::Pending,
        }
    }

    /// When the next attempt is due, if there is one.
    pub const fn next_attempt_at(&self) -> Option<Timestamp> {
        match self.end {
            LetterEnd::PutOff(until) => Some(until),
            LetterEnd::Sent | LetterEnd::Dropped(_) => None,
        }
    }

    /// When the letter ended, if it has.
    pub const fn ended_at(&self) -> Option<Timestamp> {
        match self.end {
            LetterEnd::PutOff(_) => None,
            LetterEnd::Sent | LetterEnd::Dropped(_) => Some(self.at),
        }
    }
}

/// A letter, as its organization sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LetterRecord {
    /// The identifier of the letter.
    pub id: LetterId,
    /// The organization on whose behalf it is sent.
    pub org: OrgId,
    /// The recipient, the subject, and the outcome of the last attempt.
    pub envelope: Envelope,
    /// The state.
    pub status: LetterStatus,
    /// The number of attempts that ended.
    pub attempts: u32,
    /// When it was written.
    pub created_at: Timestamp,
    /// When the next attempt is due. Only a pending letter has one.
    pub next_attempt_at: Option<Timestamp>,
    /// When it was sent or given up.
    pub ended_at: Option<Timestamp>,
}

impl LetterRecord {
    /// The record after a worker's work on the letter.
    #[must_use]
    pub fn after(self, work: LetterWork) -> Self {
        Self {
            status: work.status(),
            attempts: self.attempts.saturating_add(u32::from(work.attempt.is_some())),
            next_attempt_at: work.next_attempt_at(),
            ended_at: work.ended_at(),
            envelope: work.attempt.unwrap_or(self.envelope),
            ..self
        }
    }

    /// The record after a newer letter was sent at `at`.
    #[must_use]
    pub fn superseded(self, at: Timestamp) -> Self {
        Self { status: LetterStatus::Superseded, next_attempt_at: None, ended_at: Some(at), ..self }
    }

    /// The record after what the letter announces was taken back at `at`.
    #[must_use]
    pub fn withdrawn(self, at: Timestamp) -> Self {
        Self { status: LetterStatus::Outdated, next_attempt_at: None, ended_at: Some(at), ..self }
    }

    /// The record after a worker sent a letter that no longer waited: it was withdrawn while it was being sent.
    #[must_use]
    pub fn sent_all_the_same(self, work: LetterWork) -> Self {
        if self.status == LetterStatus::Outdated { self.after(work) } else { self }
    }
}

/// A page of an organization's records, the newest letter first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordSearch {
    /// Only records with this status.
    pub status: Option<LetterStatus>,
    /// Only letters older than this one.
    pub before: Option<LetterId>,
    /// The most records.
    pub limit: u32,
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    #[test]
    fn names_round_trip() {
        for status in LetterStatus::ALL {
            assert_eq!(LetterStatus::from_name(status.as_str()), Some(status));
        }
        assert_eq!(LetterStatus::from_name("gone"), None);
    }

    #[rstest]
    #[case::one_line("5.1.1 no such mailbox", "5.1.1 no such mailbox")]
    #[case::many_lines("4.7.1 greylisted\r\n4.7.1 try again\r\n", "4.7.1 greylisted 4.7.1 try again")]
    #[case::control_characters("a\u{1b}[31mb\u{0}c", "a [31mb c")]
    #[case::empty("", "")]
    fn a_reply_is_one_line(#[case] text: &str, #[case] kept: &str) {
        assert_eq!(ServerReply::new(Some(550), text, NOW).text, kept);
    }

    #[test]
    fn a_long_reply_is_cut() {
        let exactly = "ü".repeat(REPLY_MAX);
        assert_eq!(ServerReply::new(None, &exactly, NOW).text, exactly);
        let cut = ServerReply::new(None, &format!("{exactly}x"), NOW).text;
        assert_eq!(cut, format!("{}…", "ü".repeat(REPLY_MAX - 1)));
    }

    #[test]
    fn debug_output_hides_addresses() {
        let reply = Some(ServerReply::new(Some(550), "no mailbox ada@example.com", NOW));
        let envelope = Envelope { to: "ada@example.com".into(), subject: "Hello Ada".into(), reply };
        let printed = format!("{envelope:?} {:?}", envelope.reply);
        assert!(!printed.to_lowercase().contains("ada"), "{printed}");
    }
}
