//! Consent at a provider: what is asked for, and how what comes back is known to be the answer.
//!
//! The authorization-code flow with state and PKCE, as for signing in ([`kalends_accounts::oauth`]): an attempt is kept under
//! the hash of its state, for one use, and a cookie binds it to the browser of the human who began it.

use kalends_accounts::oauth::{Attempt, BegunAttempt, Client, Provider};
use kalends_kernel::{ConnectionId, ConnectionLinkId, Entropy, OrgId, Timestamp, UserId};
use url::Url;

/// What consent is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scopes(pub &'static str);

impl Scopes {
    /// The least that tells when somebody is busy, lists their calendars and lasts.
    pub const fn availability(provider: Provider) -> Self {
        Self(match provider {
            Provider::Google => {
                "https://www.googleapis.com/auth/calendar.freebusy \
                 https://www.googleapis.com/auth/calendar.calendarlist.readonly"
            }
            Provider::Microsoft => "offline_access https://graph.microsoft.com/Calendars.ReadBasic",
        })
    }
}

/// What an attempt is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Another account, and the link that asked for one, if any did.
    Connect {
        /// The link.
        link: Option<ConnectionLinkId>,
    },
    /// The account of a connection, once more.
    Reauthorize {
        /// The connection.
        connection: ConnectionId,
    },
}

/// One attempt to get a human's consent, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectAttempt {
    /// The organization.
    pub org: OrgId,
    /// The human.
    pub human: UserId,
    /// What it is for.
    pub purpose: Purpose,
    /// What the provider's answer is checked against. Neither a nonce nor terms are part of this one.
    pub oauth: Attempt,
}

impl ConnectAttempt {
    /// A fresh attempt, and what its browser keeps.
    pub fn begin(
        (org, human): (OrgId, UserId),
        purpose: Purpose,
        client: &Client,
        now: Timestamp,
        entropy: &dyn Entropy,
    ) -> (Self, BegunAttempt) {
        let mut begun = Attempt::begin(client, None, now, entropy);
        // No identity is asked for that could repeat it.
        begun.attempt.nonce = String::new();
        (Self { org, human, purpose, oauth: begun.attempt.clone() }, begun)
    }

    /// Where the human is sent.
    pub fn authorization_url(begun: &BegunAttempt, client: &Client) -> Url {
        let ours: &[(&str, &str)] = match client.provider {
            // Google tells what lasts only to whoever says so, and again only where consent is given again.
            Provider::Google => &[("access_type", "offline"), ("prompt", "consent")],
            Provider::Microsoft => &[("prompt", "select_account")],
        };
        let mut url = begun.authorization_url(client, Scopes::availability(client.provider).0);
        // A parameter may stand there once (RFC 6749 section 3.1), and the endpoint may have some of its own.
        let own = url.query_pairs().into_owned().filter(|(name, _)| !ours.iter().any(|(ours, _)| ours == name));
        let kept: Vec<(String, String)> = own.collect();
        url.query_pairs_mut().clear().extend_pairs(kept).extend_pairs(ours);
        url
    }
}
