//! The pages to which a connection link leads. They are in English, like the console, and work without scripts.

use askama::Template;
use kalends_time::Timestamp;

use crate::{
    english::in_english,
    field::CodeField,
    overview::OtherOrganization,
    providers::{consenting, takes},
    signed_in::SignedIn,
    time::in_utc,
};

/// The page that takes the code from a connection link, which no browser sends.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "connect.html")]
pub struct ConnectCode {
    /// Whether a code was sent that cannot be one.
    pub is_wrong: bool,
    /// Whether the browser keeps the token of a link that was opened before.
    pub has_link: bool,
}

impl ConnectCode {
    const fn code(&self) -> CodeField<'_> {
        CodeField::of_connection_link(self.is_wrong, "This code is incomplete. Use the whole link that you received.")
    }
}

/// The page that shows what a connection link asks for.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "offer.html")]
pub struct Offer<'a> {
    /// The user and the organization.
    pub who: SignedIn<'a>,
    /// The link's identifier.
    pub link: &'a str,
    /// The random key of the form that connects the example calendar.
    pub once: &'a str,
    /// The name of the agent that asks; `None` if the organization does.
    pub agent: Option<&'a str>,
    /// The name of the agent's calendar; `None` if it was deleted.
    pub calendar: Option<&'a str>,
    /// When the link expires.
    pub expires_at: Timestamp,
    /// Whether the agent would also like to copy events to the user's calendar.
    pub publishes: bool,
    /// The providers, each with the name in addresses and the name that people know.
    pub providers: &'a [(&'static str, &'static str)],
    /// The accounts that are connected already.
    pub accounts: &'a [UsableAccount],
}

/// An account that is connected already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsableAccount {
    /// The identifier of the connection.
    pub id: String,
    /// The provider's name, and the account's label.
    pub name: String,
    /// When it was connected.
    pub connected_at: Timestamp,
}

impl UsableAccount {
    fn connected(&self) -> String {
        in_utc(self.connected_at)
    }
}

impl Offer<'_> {
    fn asker(&self) -> &str {
        self.agent.unwrap_or(self.who.organization)
    }

    fn calendar_name(&self) -> &str {
        self.calendar.unwrap_or("removed")
    }

    fn expires(&self) -> String {
        in_utc(self.expires_at)
    }

    fn consenting(&self) -> Vec<(&'static str, &'static str)> {
        consenting(self.providers)
    }

    fn takes_caldav(&self) -> bool {
        takes(self.providers, "caldav")
    }

    fn takes_example(&self) -> bool {
        takes(self.providers, "example")
    }

    /// Why there is no provider to choose.
    const fn none(&self) -> &'static str {
        if self.publishes {
            "None of the providers configured here can take events from agents, so this link cannot connect anything. \
             You can decline it."
        } else {
            "The operator of this service has not configured any calendar provider."
        }
    }
}

/// The page for a link that is not one of the session's organization.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "unknown_link.html")]
pub struct UnknownLink<'a> {
    /// The user and the organization.
    pub who: SignedIn<'a>,
    /// The user's other organizations.
    pub others: &'a [OtherOrganization],
}

/// The page for a link that cannot be used.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "link_over.html")]
pub struct LinkOver<'a> {
    /// The user and the organization.
    pub who: SignedIn<'a>,
    /// The reason, as a sentence.
    pub reason: &'a str,
}

/// The page that a user sees after declining a link.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "declined.html")]
pub struct Declined<'a> {
    /// The name of the agent or the organization that asked.
    pub asker: &'a str,
}

in_english!(ConnectCode, Offer<'_>, UnknownLink<'_>, LinkOver<'_>, Declined<'_>);
