//! The pages before and after a provider asks a user for consent. They are in English, like the console.

use askama::Template;

use crate::{english::in_english, link::Href};

/// The page that leads to a provider. A browser does not follow a redirect from a form to another site, so the page
/// refreshes itself, and has a link for browsers that do not.
#[derive(Debug, Clone, Template)]
#[template(path = "consent.html")]
pub struct Consent<'a> {
    /// The provider's name.
    pub provider: &'a str,
    /// The provider's page.
    pub address: Href,
}

/// The messages for a consent that failed, by the code in the address of the page.
pub const CONSENT_ERRORS: [(&str, &str); 7] = [
    ("oauth_state", "Connecting took too long, or was started in another browser. Please start again."),
    ("oauth_declined", "You or your provider declined. Nothing was shared."),
    ("oauth_failed", "Your provider did not confirm your consent. Please start again."),
    ("provider_unavailable", "Your provider is not responding. Please try again in a few minutes."),
    ("link_over", "The link has expired, or somebody else has used it. Please ask for a new one."),
    (
        "other_account",
        "You gave consent with a different account than the connected one. Please choose the same account.",
    ),
    ("connection_gone", "The connection has been removed. Please connect the account again."),
];

/// The page that says why nothing was connected.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "nothing_connected.html")]
pub struct NothingConnected<'a> {
    /// The code in the address of the page.
    pub code: &'a str,
    /// Whether a connection link is open, to which the user can return.
    pub has_link: bool,
}

impl NothingConnected<'_> {
    fn reason(&self) -> &'static str {
        let known = CONSENT_ERRORS.into_iter().find(|(code, _)| *code == self.code);
        known.map_or("Something went wrong. Please start again.", |(_, reason)| reason)
    }
}

in_english!(Consent<'_>, NothingConnected<'_>);
