//! Signing in with a provider: the request to the provider, and the checks of its response.
//!
//! It is the authorization-code flow with state, nonce and PKCE (S256). The values of one attempt are stored under the
//! hash of its state, for [`ATTEMPT_LASTS`] and for one use. The state is also in a cookie, so that nobody can be
//! signed in with another person's response. Adapters communicate with the provider.
//!
//! The identity comes from the provider's token endpoint over TLS. So the signature of the token adds nothing (OpenID
//! Connect Core, section 3.1.3.7, point 6), and no keys have to be fetched.

use std::fmt;

use kalends_kernel::{Entropy, FieldError, base64url, bounded_text, random_bytes};
use kalends_time::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use url::Url;

pub use self::{
    identity::{Identity, IdentityClaims, KnownIdentity, Linking, SignInAs, sign_in_as},
    provider::{Client, Provider, SIGN_IN_SCOPES},
    return_to::{ConsolePage, ReturnTo},
};
use crate::TokenHash;

mod identity;
mod provider;
mod return_to;
#[cfg(test)]
mod tests;

/// How long a user may take at the provider.
pub const ATTEMPT_LASTS: SignedDuration = SignedDuration::minutes(10);
/// The name of the cookie that binds an attempt to the browser.
pub const STATE_COOKIE: &str = "service_oauth_state";
/// The maximum number of bytes of a code or state in a callback.
const VALUE_MAX: usize = 2_048;
/// The errors of a provider when the user declined, or did not consent (RFC 6749 section 4.1.2.1; OpenID Connect Core
/// section 3.1.2.6).
const DECLINED: [&str; 4] = ["access_denied", "consent_required", "interaction_required", "login_required"];

/// The maximum number of characters of a version of the terms in an attempt.
pub const TERMS_VERSION_MAX: usize = 64;

/// The version of the terms that a new user accepts by starting an attempt.
///
/// # Errors
/// The version is empty or too long.
pub fn parse_terms_version(text: &str) -> Result<String, FieldError> {
    bounded_text("tos_version", text, 1, TERMS_VERSION_MAX)
}

/// One attempt to sign in, as stored.
#[derive(Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The hash of the state. The attempt is stored under it.
    pub key: TokenHash,
    /// The provider.
    pub provider: Provider,
    /// The nonce that the identity token must repeat.
    pub nonce: String,
    /// The PKCE code verifier.
    pub verifier: String,
    /// The URL that the user is sent back to. It is repeated when the code is exchanged.
    pub redirect_uri: String,
    /// The terms that the user accepts if they are new.
    pub terms_version: Option<String>,
    /// When the attempt ends.
    pub expires_at: Timestamp,
}

/// An attempt that has just begun, with the part that is not stored.
#[derive(Clone, PartialEq, Eq)]
pub struct BegunAttempt {
    /// The stored part.
    pub attempt: Attempt,
    /// The state. The provider returns it unchanged, and the browser's cookie repeats it.
    pub state: String,
}

impl fmt::Debug for BegunAttempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.attempt.fmt(f)
    }
}

impl fmt::Debug for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attempt")
            .field("provider", &self.provider)
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}

impl BegunAttempt {
    /// The attempt with a page to return to. Its state contains the page, and the attempt is stored under the whole
    /// state, so that the page cannot be changed on the way. So the provider can read the path and the query of the page.
    #[must_use]
    pub fn returning_to(mut self, page: &ReturnTo) -> Self {
        self.state = format!("{}.{}", page.name(), self.state);
        self.attempt.key = TokenHash::of(&self.state);
        self
    }
}

impl Attempt {
    /// A new attempt, with 256 random bits for each of its values.
    pub fn begin(
        client: &Client,
        terms_version: Option<String>,
        now: Timestamp,
        entropy: &dyn Entropy,
    ) -> BegunAttempt {
        let secret = || base64url(&random_bytes::<32>(entropy));
        let state = secret();
        let attempt = Self {
            key: TokenHash::of(&state),
            provider: client.provider,
            nonce: secret(),
            verifier: secret(),
            redirect_uri: client.redirect_uri.clone(),
            terms_version,
            expires_at: now + ATTEMPT_LASTS,
        };
        BegunAttempt { attempt, state }
    }

    /// The PKCE challenge of method S256 (RFC 7636 section 4.2).
    pub fn challenge(&self) -> String {
        base64url(&Sha256::digest(self.verifier.as_bytes()))
    }
}

impl BegunAttempt {
    /// The URL to send the user to. The endpoint's own parameters are kept.
    pub fn authorization_url(&self, client: &Client, scopes: &str) -> Url {
        let mut url = client.authorization_endpoint.clone();
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &client.client_id)
            .append_pair("redirect_uri", &self.attempt.redirect_uri)
            .append_pair("scope", scopes)
            .append_pair("state", &self.state)
            .append_pair("code_challenge", &self.attempt.challenge())
            .append_pair("code_challenge_method", "S256");
        // Only identity tokens repeat a nonce.
        if !self.attempt.nonce.is_empty() {
            url.query_pairs_mut().append_pair("nonce", &self.attempt.nonce);
        }
        url
    }
}

/// The parameters and the cookie of a callback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Callback<'a> {
    /// The parameter `state`.
    pub state: Option<&'a str>,
    /// The parameter `code`.
    pub code: Option<&'a str>,
    /// The parameter `error`.
    pub error: Option<&'a str>,
    /// The parameter `iss` (RFC 9207), if the provider sends one.
    pub issuer: Option<&'a str>,
    /// The value of the cookie [`STATE_COOKIE`].
    pub cookie: Option<&'a str>,
}

/// Why a user is not signed in. Callers can distinguish only [`Self::State`], [`Self::Declined`] and all other
/// failures; the log has the exact reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum OauthError {
    /// The state is missing, unknown, used or expired, or belongs to another provider or another browser.
    #[error("the attempt to sign in is unknown or took too long; begin again")]
    State,
    /// The user or the provider declined.
    #[error("the provider did not let the sign-in happen")]
    Declined,
    /// The provider reports a failure of its own or of the configuration.
    #[error("the provider reports an error")]
    Provider,
    /// The callback has no usable code.
    #[error("the provider sent no code")]
    NoCode,
    /// The response names another issuer.
    #[error("the response is from another issuer")]
    Issuer,
    /// The identity token is for another client.
    #[error("the identity is for another client")]
    Audience,
    /// The identity token is expired or not yet valid.
    #[error("the identity token has expired or is not yet valid")]
    Time,
    /// The identity token belongs to another attempt.
    #[error("the identity is for another attempt")]
    Nonce,
    /// The identity token has no usable subject.
    #[error("the provider sent no subject")]
    Nobody,
}

/// The parameters for the provider's token endpoint, in addition to the client's own credentials.
#[derive(Clone, PartialEq, Eq)]
pub struct TokenRequest {
    /// The code.
    pub code: String,
    /// The PKCE verifier.
    pub code_verifier: String,
    /// The same redirect URL as before.
    pub redirect_uri: String,
}

impl fmt::Debug for TokenRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenRequest(…)")
    }
}

impl Callback<'_> {
    /// Checks a callback. `attempt` is the one that was stored under the hash of the state. The caller has already
    /// removed it from the store, so it is used up whatever the result.
    ///
    /// # Errors
    /// [`OauthError`]. The state is checked first, so that a caller without it learns nothing.
    pub fn check(self, attempt: Option<&Attempt>, client: &Client, now: Timestamp) -> Result<TokenRequest, OauthError> {
        let same = |text: Option<&str>, key: TokenHash| {
            text.is_some_and(|text| bool::from(TokenHash::of(text).0.ct_eq(&key.0)))
        };
        let attempt = attempt
            .filter(|attempt| {
                attempt.provider == client.provider
                    && attempt.redirect_uri == client.redirect_uri
                    && now < attempt.expires_at
                    && same(self.state, attempt.key)
                    && same(self.cookie, attempt.key)
            })
            .ok_or(OauthError::State)?;
        if self.issuer.is_some_and(|issuer| !client.is_issuer(issuer)) {
            return Err(OauthError::Issuer);
        }
        if let Some(error) = self.error {
            return Err(if DECLINED.contains(&error) { OauthError::Declined } else { OauthError::Provider });
        }
        let code = self.code.filter(|code| (1..=VALUE_MAX).contains(&code.len())).ok_or(OauthError::NoCode)?;
        Ok(TokenRequest {
            code: code.to_owned(),
            code_verifier: attempt.verifier.clone(),
            redirect_uri: attempt.redirect_uri.clone(),
        })
    }
}
