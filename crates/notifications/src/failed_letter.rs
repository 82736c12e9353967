//! A letter that failed, as the operator of the server sees it.
//!
//! The operator finds out why mail does not arrive, and not who gets it. So neither the subject nor the recipient's name
//! is shown, and the name is taken out of the server's reply, which often repeats it.

use kalends_kernel::{LetterId, OrgId};
use kalends_time::Timestamp;

use crate::{LetterRecord, LetterStatus, ServerReply};

/// What replaces a name.
const HIDDEN: &str = "\u{2026}";
/// The least length of a name, in characters, that is hidden where it is a part of a word too.
const PART_MIN: usize = 4;

/// A letter that was refused or given up, or whose last attempt failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedLetter {
    /// The identifier.
    pub id: LetterId,
    /// The organization on whose behalf it is sent.
    pub org: OrgId,
    /// The name of the organization.
    pub organization: String,
    /// The domain of the recipient's address.
    pub domain: String,
    /// The state: [`LetterStatus::Refused`], [`LetterStatus::Expired`] or [`LetterStatus::Pending`].
    pub status: LetterStatus,
    /// The number of attempts that ended.
    pub attempts: u32,
    /// The outcome of the last attempt, without the recipient's name; `None` if there was no attempt.
    pub reply: Option<ServerReply>,
    /// When it was written.
    pub created_at: Timestamp,
    /// When the next attempt is due. Only a pending letter has one.
    pub next_attempt_at: Option<Timestamp>,
}

impl FailedLetter {
    /// The letter with that record, of the organization with that name.
    pub fn of(record: LetterRecord, organization: String) -> Self {
        let LetterRecord { id, org, envelope, status, attempts, created_at, next_attempt_at, .. } = record;
        let (name, domain) = envelope.to.rsplit_once('@').unwrap_or((envelope.to.as_str(), ""));
        let hidden = |reply: ServerReply| ServerReply { text: without_addresses(&reply.text, name), ..reply };
        let reply = envelope.reply.clone().map(hidden);
        let domain = domain.to_owned();
        Self { id, org, organization, domain, status, attempts, reply, created_at, next_attempt_at }
    }
}

impl LetterRecord {
    /// Whether it was refused or given up, or waits after a failed attempt.
    pub const fn has_failed(&self) -> bool {
        match self.status {
            LetterStatus::Refused | LetterStatus::Expired => true,
            LetterStatus::Pending => self.attempts > 0,
            LetterStatus::Sent | LetterStatus::Superseded | LetterStatus::Outdated => false,
        }
    }
}

/// The text without the names before any `@`, and without `name`.
fn without_addresses(text: &str, name: &str) -> String {
    let name = name.to_lowercase();
    let words = text.split(' ').map(|word| match word.rsplit_once('@') {
        Some((_, rest)) if has_name(rest, &name) => HIDDEN.to_owned(),
        Some((_, rest)) => format!("{HIDDEN}@{rest}"),
        None if has_name(word, &name) => HIDDEN.to_owned(),
        None => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Whether the word is the name between other signs, or contains it. `name` is in lower case.
fn has_name(word: &str, name: &str) -> bool {
    let word = word.to_lowercase();
    let is_sign = |letter: char| !letter.is_alphanumeric();
    let is_whole = || word.split(is_sign).any(|part| part == name) || word.trim_matches(is_sign) == name;
    let is_part = || name.chars().count() >= PART_MIN && word.contains(name);
    !name.is_empty() && (is_whole() || is_part())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::Envelope;

    #[rstest]
    #[case("ada", "5.1.1 <ada@example.com>: no such mailbox", "5.1.1 \u{2026}@example.com>: no such mailbox")]
    #[case("ada", "no mailbox Ada here", "no mailbox \u{2026} here")]
    #[case("ada", "user=ada, adamant server", "\u{2026} adamant server")]
    #[case("a+b", "no mailbox <A+b>", "no mailbox \u{2026}")]
    #[case("olga.k", "rcpt olga.k@a.example,olga.k@b.example", "rcpt \u{2026}@b.example")]
    #[case("olga", "SRS0=olga=a.example@b.example and olga42", "\u{2026}@b.example and \u{2026}")]
    #[case("olga", "x@olga.example", "\u{2026}")]
    #[case("a", "a bad address", "\u{2026} bad address")]
    #[case("", "4.7.1 try again", "4.7.1 try again")]
    fn replies_are_shown_without_the_name(#[case] name: &str, #[case] text: &str, #[case] shown: &str) {
        assert_eq!(without_addresses(text, name), shown);
    }

    #[rstest]
    #[case(LetterStatus::Pending, 0, false)]
    #[case(LetterStatus::Pending, 1, true)]
    #[case(LetterStatus::Refused, 1, true)]
    #[case(LetterStatus::Expired, 0, true)]
    #[case(LetterStatus::Sent, 3, false)]
    #[case(LetterStatus::Superseded, 3, false)]
    #[case(LetterStatus::Outdated, 3, false)]
    fn refused_expired_and_postponed_letters_have_failed(
        #[case] status: LetterStatus,
        #[case] attempts: u32,
        #[case] failed: bool,
    ) {
        let at = Timestamp::from_micros(1_800_000_000_000_000);
        let reply = Some(ServerReply::new(Some(550), "no mailbox ada@example.com", at));
        let record = LetterRecord {
            id: LetterId::from_bytes([1; 16]),
            org: OrgId::from_bytes([2; 16]),
            envelope: Envelope { to: "ada@example.com".into(), subject: "Hello Ada".into(), reply },
            status,
            attempts,
            created_at: at,
            next_attempt_at: None,
            ended_at: Some(at),
        };
        assert_eq!(record.has_failed(), failed);
        let letter = FailedLetter::of(record, "Acme".to_owned());
        assert_eq!((&*letter.domain, &*letter.organization), ("example.com", "Acme"));
        assert_eq!(letter.reply.unwrap().text, "no mailbox \u{2026}@example.com");
    }
}
