//! The kinds of uses that are limited, with their limits.

use std::fmt;

use kalends_time::{SignedDuration, Timestamp};

/// A kind of use that is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limited {
    /// Sign-ups with addresses of one mail domain, by [`Email::domain`](crate::Email::domain). Each call counts,
    /// whatever its outcome.
    SignUps,
    /// Sign-ups with addresses of one public mail provider ([`PublicMailDomains`](crate::PublicMailDomains)) from one
    /// network.
    PublicSignUps,
    /// Sign-ups of people from one network with addresses of one mail domain, even if the domain's [`Self::SignUps`]
    /// are used up. Those at a public provider have none.
    ReservedSignUps,
    /// Exports of an organization.
    Exports,
    /// Files of the audit log of an organization.
    AuditFiles,
    /// Feedback of an organization.
    Feedback,
    /// Claims on one address, by any user.
    ClaimsOn,
    /// Claims of one user, on any address.
    ClaimsOf,
    /// Emails for setting a password, to one address.
    Resets,
    /// Emails for proving the address of a user.
    Proofs,
    /// Wrong codes of a user's second factor.
    SecondFactor,
    /// Passwords that a user sends to calendar servers.
    CalendarPasswords,
    /// Emails with which the operator tests the sending of mail.
    TestMail,
    /// Emails of an organization that ask its members to decide about approvals.
    ApprovalMail,
    /// Emails from one organization to others, with the limit per hour.
    Mail(u32),
    /// Emails from all organizations to one recipient, with the limit per hour.
    MailTo(u32),
}

/// The period in which uses are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Window {
    /// 60 minutes from the first use.
    Hour,
    /// A UTC day.
    Day,
}

impl Window {
    /// The end of the window that begins with a use at `now`.
    pub(super) fn end(self, now: Timestamp) -> Timestamp {
        match self {
            Self::Hour => now + SignedDuration::hours(1),
            Self::Day => next_midnight(now),
        }
    }

    /// The maximum length of a window.
    pub(super) const fn longest(self) -> SignedDuration {
        match self {
            Self::Hour => SignedDuration::hours(1),
            Self::Day => SignedDuration::days(1),
        }
    }
}

impl Limited {
    /// The number of uses allowed in a window.
    pub const fn count(self) -> u32 {
        match self {
            Self::SignUps | Self::PublicSignUps | Self::Exports | Self::SecondFactor => 10,
            Self::Feedback => 25,
            Self::AuditFiles | Self::ApprovalMail => 30,
            Self::ClaimsOn | Self::Resets | Self::Proofs | Self::TestMail => 5,
            Self::ClaimsOf | Self::CalendarPasswords => 20,
            Self::ReservedSignUps => 2,
            Self::Mail(count) | Self::MailTo(count) => count,
        }
    }

    pub(super) const fn window(self) -> Window {
        match self {
            Self::SignUps
            | Self::PublicSignUps
            | Self::ReservedSignUps
            | Self::Exports
            | Self::AuditFiles
            | Self::ClaimsOn
            | Self::ClaimsOf
            | Self::Resets
            | Self::Proofs
            | Self::SecondFactor
            | Self::CalendarPasswords
            | Self::TestMail
            | Self::ApprovalMail
            | Self::Mail(_)
            | Self::MailTo(_) => Window::Hour,
            Self::Feedback => Window::Day,
        }
    }

    /// The name under which uses are counted. Stores keep a hash of it.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::SignUps => "sign-ups",
            Self::PublicSignUps => "public sign-ups",
            Self::ReservedSignUps => "reserved sign-ups",
            Self::Exports => "exports",
            Self::AuditFiles => "audit files",
            Self::Feedback => "feedback",
            Self::ClaimsOn => "claims on",
            Self::ClaimsOf => "claims of",
            Self::Resets => "resets",
            Self::Proofs => "proofs",
            Self::SecondFactor => "second factor",
            Self::CalendarPasswords => "calendar passwords",
            Self::TestMail => "test mail",
            Self::ApprovalMail => "approval mail",
            Self::Mail(_) => "mail",
            Self::MailTo(_) => "mail to",
        }
    }
}

impl fmt::Display for Limited {
    /// States the limit, for the error message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (count, window) = (self.count(), self.window());
        let what = match self {
            Self::SignUps | Self::PublicSignUps | Self::ReservedSignUps => "sign-ups",
            Self::Exports => "exports",
            Self::AuditFiles => "files of the audit log",
            Self::Feedback => "pieces of feedback",
            Self::ClaimsOn | Self::ClaimsOf => "claims",
            Self::SecondFactor => "wrong codes",
            Self::CalendarPasswords => "attempts to connect a calendar server",
            Self::TestMail => "test emails",
            Self::Resets | Self::Proofs | Self::ApprovalMail | Self::Mail(_) | Self::MailTo(_) => "emails",
        };
        let each = match window {
            Window::Hour => "an hour",
            Window::Day => "a UTC day",
        };
        write!(f, "{count} {what} {each} are allowed")?;
        match self {
            Self::SignUps => f.write_str(" with addresses of one mail domain"),
            Self::PublicSignUps => f.write_str(" from one network with addresses of one mail provider"),
            Self::ReservedSignUps => f.write_str(" from one network with addresses of one mail domain"),
            Self::ClaimsOn => f.write_str(" on one address"),
            Self::Resets | Self::MailTo(_) => f.write_str(" to one address"),
            Self::ApprovalMail => f.write_str(" about approvals of one organization"),
            Self::Mail(_) => f.write_str(" to others from one organization"),
            Self::ClaimsOf | Self::Proofs | Self::SecondFactor | Self::CalendarPasswords => f.write_str(" to one user"),
            Self::Exports | Self::AuditFiles | Self::Feedback | Self::TestMail => Ok(()),
        }
    }
}

/// The start of the next UTC day.
pub(super) fn next_midnight(now: Timestamp) -> Timestamp {
    let day = SignedDuration::days(1).as_micros();
    Timestamp::from_micros((now.as_micros().div_euclid(day) + 1) * day)
}
