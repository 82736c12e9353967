//! The emails that failed.

use kalends_time::{CivilDate, Timestamp};

use crate::{
    numbers::{counted, grouped},
    time::{date_text, in_utc},
};

/// The state of an email that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperatorFailure {
    /// The mail server refused the address.
    Refused,
    /// It was given up.
    GivenUp,
    /// It is tried again at this time, if that is known.
    Again(Option<Timestamp>),
}

/// An email that failed. It has neither the subject nor the name of the recipient.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperatorFailedEmail<'a> {
    /// The identifier of the organization.
    pub org: &'a str,
    /// The name of the organization.
    pub organization: &'a str,
    /// The domain of the recipient's address.
    pub domain: &'a str,
    /// The state.
    pub state: OperatorFailure,
    /// The number of attempts.
    pub attempts: u64,
    /// The reply code of the mail server at the last attempt.
    pub code: Option<u16>,
    /// The text of the reply, or why there was none; empty if there was no attempt.
    pub reason: &'a str,
    /// When it was written.
    pub written_at: Timestamp,
}

impl OperatorFailedEmail<'_> {
    pub(super) fn state_text(&self) -> String {
        let attempts = counted(self.attempts, "attempt", "attempts");
        match self.state {
            OperatorFailure::Refused => format!("Refused after {attempts}"),
            OperatorFailure::GivenUp if self.attempts == 0 => {
                "Not sent: it waited three days for the recipient's hourly limit".to_owned()
            }
            OperatorFailure::GivenUp => format!("Given up after {attempts}"),
            OperatorFailure::Again(Some(at)) => format!("Failed after {attempts}, to be tried again at {}", in_utc(at)),
            OperatorFailure::Again(None) => format!("Failed after {attempts}, to be tried again"),
        }
    }

    /// The reply with its code; `None` if there was none.
    pub(super) fn reply(&self) -> Option<String> {
        let code = self.code.map(|code| format!("{code} ")).unwrap_or_default();
        (!self.reason.is_empty() || self.code.is_some()).then(|| format!("{code}{}", self.reason))
    }

    pub(super) fn written(&self) -> String {
        in_utc(self.written_at)
    }
}

/// How many emails that were written on one day failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperatorDayCount {
    /// All were counted.
    Exactly(u64),
    /// Counting stopped on this day.
    AtLeast(u64),
    /// Counting stopped on a later day.
    NotCounted,
}

impl OperatorDayCount {
    fn text(self) -> String {
        match self {
            Self::Exactly(count) => grouped(count),
            Self::AtLeast(count) => format!("at least {}", grouped(count)),
            Self::NotCounted => "not counted".to_owned(),
        }
    }
}

/// The emails of all organizations that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperatorFailedMail<'a> {
    /// The newest emails first.
    pub emails: &'a [OperatorFailedEmail<'a>],
    /// The most emails of one organization.
    pub of_each: u64,
    /// The days with the numbers of the emails written on them that failed, the newest first.
    pub days: &'a [(CivilDate, OperatorDayCount)],
}

impl OperatorFailedMail<'_> {
    pub(super) fn day_texts(&self) -> Vec<(String, String)> {
        self.days.iter().map(|(day, count)| (date_text(*day), count.text())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn email(state: OperatorFailure, code: Option<u16>, reason: &str) -> OperatorFailedEmail<'_> {
        let written_at = "2026-03-02T08:00:00Z".parse().unwrap();
        let (org, organization, domain) = ("org_1", "Acme", "example.com");
        OperatorFailedEmail { org, organization, domain, state, attempts: 1, code, reason, written_at }
    }

    #[test]
    fn an_email_says_why_it_failed_and_what_happens_next() {
        let at = "2026-03-02T09:30:00Z".parse().ok();
        let again = email(OperatorFailure::Again(at), Some(451), "4.7.1 greylisted");
        assert_eq!(again.state_text(), format!("Failed after 1 attempt, to be tried again at {}", in_utc(at.unwrap())));
        assert_eq!(again.reply().as_deref(), Some("451 4.7.1 greylisted"));
        let refused = email(OperatorFailure::Refused, Some(550), "");
        assert_eq!((&*refused.state_text(), refused.reply().as_deref()), ("Refused after 1 attempt", Some("550 ")));
        let given_up = OperatorFailedEmail { attempts: 0, ..email(OperatorFailure::GivenUp, None, "") };
        let waited = "Not sent: it waited three days for the recipient's hourly limit";
        assert_eq!((&*given_up.state_text(), given_up.reply()), (waited, None));
        let tried = OperatorFailedEmail { attempts: 9, ..given_up };
        assert_eq!(tried.state_text(), "Given up after 9 attempts");
    }

    #[test]
    fn a_day_that_was_not_counted_is_not_zero() {
        let counts = [OperatorDayCount::Exactly(0), OperatorDayCount::AtLeast(1_234), OperatorDayCount::NotCounted];
        assert_eq!(counts.map(OperatorDayCount::text), ["0", "at least 1,234", "not counted"]);
    }
}
