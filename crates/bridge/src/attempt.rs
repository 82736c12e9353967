//! Consent at a provider: the requested scopes, and the attempts that tie a provider's response to its request.
//!
//! It is the authorization-code flow with state and PKCE, as for signing in ([`kalends_accounts::oauth`]). An attempt
//! is kept under the hash of its state, for one use. A cookie binds it to the browser of the user who began it.

use kalends_accounts::oauth::{Attempt, BegunAttempt, Client, Provider};
use kalends_kernel::{ConnectionId, ConnectionLinkId, Entropy, OrgId, UserId};
use kalends_time::Timestamp;
use url::Url;

/// The OAuth scopes that a user is asked to consent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scopes(pub &'static str);

impl Scopes {
    /// The smallest set of scopes that gives busy times, the list of calendars, and access that lasts.
    pub const fn availability(provider: Provider) -> Self {
        Self(match provider {
            Provider::Google => {
                "https://www.googleapis.com/auth/calendar.freebusy \
                 https://www.googleapis.com/auth/calendar.calendarlist.readonly"
            }
            Provider::Microsoft => "offline_access https://graph.microsoft.com/Calendars.ReadBasic",
            // It has no calendars.
            Provider::Oidc => "",
        })
    }

    /// The smallest set of scopes that also allows to write events. Events cannot be published to the calendars of
    /// other providers than Microsoft, so their set is that of [`Self::availability`].
    pub const fn publishing(provider: Provider) -> Self {
        match provider {
            Provider::Microsoft => Self("offline_access https://graph.microsoft.com/Calendars.ReadWrite"),
            Provider::Google | Provider::Oidc => Self::availability(provider),
        }
    }
}

/// The purpose of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Connecting another account.
    Connect {
        /// The link that asked for it, if any.
        link: Option<ConnectionLinkId>,
    },
    /// Consenting again to the account of a connection.
    Reauthorize {
        /// The connection.
        connection: ConnectionId,
    },
}

/// An attempt to get a user's consent, as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectAttempt {
    /// The organization.
    pub org: OrgId,
    /// The user.
    pub human: UserId,
    /// The purpose.
    pub purpose: Purpose,
    /// Whether consent to write events is requested too.
    pub publishing: bool,
    /// The values that the provider's response is checked against. There is no nonce, and there are no terms.
    pub oauth: Attempt,
}

impl ConnectAttempt {
    /// A new attempt, and the values for the browser. `publishing` asks for consent to write events too.
    pub fn begin(
        (org, human): (OrgId, UserId),
        purpose: Purpose,
        publishing: bool,
        client: &Client,
        now: Timestamp,
        entropy: &dyn Entropy,
    ) -> (Self, BegunAttempt) {
        let mut begun = Attempt::begin(client, None, now, entropy);
        // No ID token is requested that could contain the nonce.
        begun.attempt.nonce = String::new();
        (Self { org, human, purpose, publishing, oauth: begun.attempt.clone() }, begun)
    }

    /// The address to which the user is redirected.
    pub fn authorization_url(&self, begun: &BegunAttempt, client: &Client) -> Url {
        let ours: &[(&str, &str)] = match client.provider {
            // Google returns a refresh token only for `access_type=offline`, and again only after new consent.
            Provider::Google => &[("access_type", "offline"), ("prompt", "consent")],
            Provider::Microsoft => &[("prompt", "select_account")],
            Provider::Oidc => &[],
        };
        let scopes =
            if self.publishing { Scopes::publishing(client.provider) } else { Scopes::availability(client.provider) };
        let mut url = begun.authorization_url(client, scopes.0);
        // A parameter must not be repeated (RFC 6749 section 3.1), and the endpoint may have some of its own.
        let own = url.query_pairs().into_owned().filter(|(name, _)| !ours.iter().any(|(ours, _)| ours == name));
        let kept: Vec<(String, String)> = own.collect();
        url.query_pairs_mut().clear().extend_pairs(kept).extend_pairs(ours);
        url
    }
}
