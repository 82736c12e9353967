//! A letter that failed, as the operator of the server sees it.
//!
//! The operator finds out why mail does not arrive, and not who gets it. So neither the subject nor the recipient's name
//! is shown, and the name is taken out of the server's reply, which often repeats it. Words that only contain the
//! name stay, so that a reply about `info@` keeps "information".

use kalends_kernel::{LetterId, OrgId};
use kalends_time::Timestamp;

use crate::{LetterRecord, LetterStatus, ServerReply};

/// What replaces a name.
const HIDDEN: &str = "\u{2026}";

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

/// The text without the names before any `@`, and without `name`, also without quotes and without what follows a `+`.
fn without_addresses(text: &str, name: &str) -> String {
    let bare = name.trim_matches('"');
    let base = bare.split_once('+').map_or(bare, |(base, _)| base);
    let text = [name, bare, base].into_iter().fold(text.to_owned(), |text, name| without_name(&text, name));
    let words = text.split(' ').map(|word| match word.rsplit_once('@') {
        Some((_, domain)) => format!("{HIDDEN}@{domain}"),
        None => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The text without `name` in upper and lower case, wherever no letter or digit is beside it.
fn without_name(text: &str, name: &str) -> String {
    let name = name.to_lowercase();
    let mut shown = String::with_capacity(text.len());
    let (mut rest, mut is_in_word) = (text, false);
    loop {
        let mut letters = rest.chars();
        let Some(letter) = letters.next() else { return shown };
        let after = after_name(rest, &name).filter(|after| !is_in_word && !after.starts_with(char::is_alphanumeric));
        if let Some(after) = after {
            shown.push_str(HIDDEN);
            (rest, is_in_word) = (after, false);
        } else {
            shown.push(letter);
            (rest, is_in_word) = (letters.as_str(), letter.is_alphanumeric());
        }
    }
}

/// What follows `name`, which is in lower case, at the start of the text; `None` if the text starts otherwise, or if
/// there is no name.
fn after_name<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (mut text, mut name) = (text.chars(), name.chars());
    name.clone().next()?;
    while !name.as_str().is_empty() {
        for lower in text.next()?.to_lowercase() {
            name.next().filter(|letter| *letter == lower)?;
        }
    }
    Some(text.as_str())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::Envelope;

    #[rstest]
    #[case("ada", "5.1.1 <ada@example.com>: no such mailbox", "5.1.1 \u{2026}@example.com>: no such mailbox")]
    #[case("ada", "no mailbox Ada here", "no mailbox \u{2026} here")]
    #[case("ada", "user=ada, adamant server", "user=\u{2026}, adamant server")]
    #[case("a+b", "no mailbox <A+b>", "no mailbox <\u{2026}>")]
    #[case("olga.k", "rcpt olga.k@a.example,olga.k@b.example", "rcpt \u{2026}@b.example")]
    #[case("olga", "SRS0=olga=a.example@b.example and olga42", "\u{2026}@b.example and olga42")]
    #[case("olga", "x@olga.example", "\u{2026}@\u{2026}.example")]
    #[case(
        "olga+news",
        "Olga's box: olga+news, olga_x, olgas, xolga",
        "\u{2026}'s box: \u{2026}, \u{2026}_x, olgas, xolga"
    )]
    #[case("olga+news", "<olga@example.com> has no news", "\u{2026}@example.com> has no news")]
    #[case("\"olga k\"", "<\"olga k\"@a.example>: Olga K", "\u{2026}@a.example>: \u{2026}")]
    #[case("j\u{fc}rgen", "no mailbox J\u{dc}RGEN", "no mailbox \u{2026}")]
    #[case("i", "\u{130} I \u{131}", "\u{130} \u{2026} \u{131}")]
    #[case("mail", "no such mailbox, mail is off", "no such mailbox, \u{2026} is off")]
    #[case("info", "information: 5.1.1 INFO", "information: 5.1.1 \u{2026}")]
    #[case("host", "hostname mx1.localhost, host unknown", "hostname mx1.localhost, \u{2026} unknown")]
    #[case("user", "no such users, user unknown", "no such users, \u{2026} unknown")]
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
