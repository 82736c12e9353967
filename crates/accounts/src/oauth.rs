//! Signing in with a provider: the request to the provider, and the checks of its response.
//!
//! It is the authorization-code flow with state, nonce and PKCE (S256). The values of one attempt are stored under the
//! hash of its state, for [`ATTEMPT_LASTS`] and for one use. The state is also in a cookie, so that nobody can be
//! signed in with another person's response. Adapters communicate with the provider.
//!
//! The identity comes from the provider's token endpoint over TLS. So the signature of the token adds nothing (OpenID
//! Connect Core, section 3.1.3.7, point 6), and no keys have to be fetched.

use std::fmt;

use kalends_kernel::{Entropy, FieldError, UserId, Version, base64url, bounded_text, from_base64url, random_bytes};
use kalends_time::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use url::Url;

use crate::{Email, TokenHash, User, UserName};

/// How long a user may take at the provider.
pub const ATTEMPT_LASTS: SignedDuration = SignedDuration::minutes(10);
/// The name of the cookie that binds an attempt to the browser.
pub const STATE_COOKIE: &str = "service_oauth_state";
/// The maximum difference between the provider's clock and ours, in seconds.
const LEEWAY: i64 = 60;
/// The maximum number of bytes of a code or state in a callback.
const VALUE_MAX: usize = 2_048;
/// The placeholder for a tenant's identifier in [`Client::issuer`], as in Microsoft's discovery document.
const TENANT: &str = "{tenantid}";
/// The maximum number of characters of a tenant's identifier.
const TENANT_MAX: usize = 64;
/// The errors of a provider when the user declined, or did not consent (RFC 6749 section 4.1.2.1; OpenID Connect Core
/// section 3.1.2.6).
const DECLINED: [&str; 4] = ["access_denied", "consent_required", "interaction_required", "login_required"];
/// The maximum number of characters of a subject, as OpenID Connect allows.
const SUBJECT_MAX: usize = 255;

/// An identity provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Provider {
    /// Google.
    Google,
    /// Microsoft.
    Microsoft,
    /// The OpenID Connect provider that the operator chose. Users only sign in with it; it has no calendars.
    Oidc,
}

impl Provider {
    /// Every provider.
    pub const ALL: [Self; 3] = [Self::Google, Self::Microsoft, Self::Oidc];

    /// The providers whose calendars users can connect.
    pub const CALENDARS: [Self; 2] = [Self::Google, Self::Microsoft];

    /// The name in `GET /v1/auth/oauth/:provider` and in stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Google => "google",
            Self::Microsoft => "microsoft",
            Self::Oidc => "oidc",
        }
    }

    /// The name to show to users, unless the operator chose another one.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Google => "Google",
            Self::Microsoft => "Microsoft",
            Self::Oidc => "single sign-on",
        }
    }

    /// The provider with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|provider| provider.as_str() == name)
    }

    /// The provider with that name, if users can connect its calendars.
    pub fn of_calendars(name: &str) -> Option<Self> {
        Self::CALENDARS.into_iter().find(|provider| provider.as_str() == name)
    }
}

/// The smallest set of scopes that identifies a user.
pub const SIGN_IN_SCOPES: &str = "openid email profile";

/// The provider's endpoint and the service's registration there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    /// The provider.
    pub provider: Provider,
    /// Its authorization endpoint.
    pub authorization_endpoint: Url,
    /// The issuer in its identity tokens. A provider with many tenants has an issuer for each; `{tenantid}` stands
    /// for any tenant.
    pub issuer: String,
    /// The service's client identifier there.
    pub client_id: String,
    /// The URL that the provider sends the user back to. There is only one, and it is never taken from a request.
    pub redirect_uri: String,
}

impl Client {
    /// Whether `issuer` is an issuer of this provider. Google may write its issuer without the scheme. An operator's own
    /// provider has exactly one issuer (OpenID Connect Core section 3.1.3.7, point 2).
    pub fn is_issuer(&self, issuer: &str) -> bool {
        if self.provider == Provider::Oidc {
            return self.issuer == issuer;
        }
        if self.provider == Provider::Google && self.issuer.strip_prefix("https://") == Some(issuer) {
            return true;
        }
        match self.issuer.split_once(TENANT) {
            None => self.issuer == issuer,
            Some((before, after)) => {
                let tenant = issuer.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
                tenant.is_some_and(|tenant| {
                    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
                    (1..=TENANT_MAX).contains(&tenant.len()) && tenant.bytes().all(plain)
                })
            }
        }
    }
}

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

/// A page that a user returns to after signing in with a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReturnTo {
    /// The page of a connection link.
    Connect,
    /// The page of connected calendars.
    Connections,
    /// The page on which a user joins an organization.
    Join,
    /// Another page of the console.
    Page(ConsolePage),
}

/// The path and query of a page of the console, such as `/console/agents?offset=50`: visible ASCII characters, at most
/// [`ConsolePage::MAX`]. Which of these paths are pages is for the console to decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsolePage(String);

impl ConsolePage {
    /// The maximum length, in characters. The state of an attempt contains the path, and providers and browsers limit
    /// the length of a state.
    pub const MAX: usize = 512;
    /// What the paths begin with.
    const BELOW: &'static str = "/console/";

    /// The page, if the text can be its path and query.
    fn of(text: &str) -> Option<Self> {
        let is_path = text.len() > Self::BELOW.len() && text.len() <= Self::MAX && text.starts_with(Self::BELOW);
        (is_path && text.bytes().all(|byte| byte.is_ascii_graphic())).then(|| Self(text.to_owned()))
    }

    /// The page in the name that [`ConsolePage::name`] made.
    fn of_name(name: &str) -> Option<Self> {
        let path = from_base64url(name.strip_prefix(PAGE)?)?;
        Self::of(std::str::from_utf8(&path).ok()?)
    }

    /// The name in the state of an attempt, which contains no dot.
    fn name(&self) -> String {
        format!("{PAGE}{}", base64url(self.0.as_bytes()))
    }

    /// The path and query below the console.
    fn below(&self) -> &str {
        self.0.strip_prefix(Self::BELOW).unwrap_or_default()
    }
}

/// What the name of a [`ConsolePage`] begins with.
const PAGE: &str = "page-";

impl ReturnTo {
    /// The pages with names of their own.
    const NAMED: [(&'static str, Self); 3] =
        [("connect", Self::Connect), ("connections", Self::Connections), ("join", Self::Join)];

    /// The page's path, with its query, below the console.
    pub fn path(&self) -> &str {
        match self {
            Self::Connect => "connect/offer",
            Self::Connections => "connections",
            Self::Join => "join",
            Self::Page(page) => page.below(),
        }
    }

    /// The name in the state of an attempt.
    fn name(&self) -> String {
        match self {
            Self::Page(page) => page.name(),
            named => Self::NAMED.into_iter().find(|(_, page)| page == named).map_or("", |(name, _)| name).to_owned(),
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::NAMED.into_iter().find(|(known, _)| *known == name).map(|(_, page)| page)
    }

    /// The page with that name, or with that path in the console.
    ///
    /// # Errors
    /// There is no such page.
    pub fn parse(param: &str, text: &str) -> Result<Self, FieldError> {
        let found = Self::named(text).or_else(|| ConsolePage::of(text).map(Self::Page));
        found.ok_or_else(|| {
            let message = "must be connect, connections, join, or the path of a page below /console/";
            FieldError::new(param, message)
        })
    }

    /// The page in the state of an attempt, if it has one. Anybody can write a state; only that of a stored attempt is
    /// known to be unchanged.
    pub fn of_state(state: &str) -> Option<Self> {
        let (name, _) = state.split_once('.')?;
        Self::named(name).or_else(|| ConsolePage::of_name(name).map(Self::Page))
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

/// The claims of the identity token from the provider's token endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentityClaims {
    /// `iss`.
    pub issuer: String,
    /// `aud`: one or several.
    pub audience: Vec<String>,
    /// `azp`: the party that the token was issued to, if there are several audiences.
    pub authorized_party: Option<String>,
    /// `sub`.
    pub subject: String,
    /// `exp`, in Unix seconds.
    pub expires: i64,
    /// `iat`, in Unix seconds.
    pub issued: i64,
    /// `nonce`.
    pub nonce: Option<String>,
    /// `email`.
    pub email: Option<String>,
    /// Whether the provider vouches for the address: `email_verified`, or Microsoft's `xms_edov`.
    pub email_verified: bool,
    /// `name`.
    pub name: Option<String>,
}

/// A person's identity at a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The provider.
    pub provider: Provider,
    /// The issuer, because a provider may have several.
    pub issuer: String,
    /// The permanent identifier there. Addresses can change hands; subjects do not.
    pub subject: String,
    /// The address, if the provider sent a valid one.
    pub email: Option<Email>,
    /// Whether the provider vouches for the address.
    pub email_verified: bool,
    /// The name, if the provider sent one.
    pub name: Option<String>,
}

impl IdentityClaims {
    /// Checks an identity token against its attempt and client (OpenID Connect Core section 3.1.3.7).
    ///
    /// # Errors
    /// [`OauthError`].
    pub fn check(self, attempt: &Attempt, client: &Client, now: Timestamp) -> Result<Identity, OauthError> {
        if attempt.provider != client.provider || !client.is_issuer(&self.issuer) {
            return Err(OauthError::Issuer);
        }
        let for_us = self.audience.contains(&client.client_id);
        let by_us = match &self.authorized_party {
            Some(party) => *party == client.client_id,
            None => self.audience.len() == 1,
        };
        if !for_us || !by_us {
            return Err(OauthError::Audience);
        }
        let seconds = now.as_unix_seconds();
        if seconds >= self.expires.saturating_add(LEEWAY) || self.issued > seconds.saturating_add(LEEWAY) {
            return Err(OauthError::Time);
        }
        let nonce = self.nonce.as_deref().unwrap_or("");
        if !bool::from(nonce.as_bytes().ct_eq(attempt.nonce.as_bytes())) {
            return Err(OauthError::Nonce);
        }
        if !(1..=SUBJECT_MAX).contains(&self.subject.len()) {
            return Err(OauthError::Nobody);
        }
        let email = self.email.as_deref().and_then(|email| Email::parse("email", email).ok());
        // A provider with one issuer keeps one spelling, however it writes itself.
        let issuer = if client.issuer.contains(TENANT) { self.issuer } else { client.issuer.clone() };
        Ok(Identity {
            provider: client.provider,
            issuer,
            subject: self.subject,
            email_verified: self.email_verified && email.is_some(),
            email,
            name: self.name,
        })
    }
}

impl Identity {
    /// The name of a new user: the one that the provider sent, or else the part of the address before the `@`.
    pub fn user_name(&self, email: &Email) -> UserName {
        let sent = self.name.as_deref().map(str::trim).and_then(|name| UserName::parse("name", name).ok());
        let local = email.as_str().split('@').next().unwrap_or_default();
        sent.unwrap_or_else(|| UserName::from_stored(local.chars().take(UserName::MAX).collect()))
    }
}

/// A stored identity of a user. An identity belongs to one user; a user may have several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownIdentity {
    /// The provider.
    pub provider: Provider,
    /// The issuer.
    pub issuer: String,
    /// The subject.
    pub subject: String,
    /// The user.
    pub user: UserId,
    /// When it was linked.
    pub since: Timestamp,
}

impl KnownIdentity {
    /// The row that links the identity to the user.
    pub fn of(identity: &Identity, user: UserId, since: Timestamp) -> Self {
        let Identity { provider, issuer, subject, .. } = identity.clone();
        Self { provider, issuer, subject, user, since }
    }
}

impl User {
    /// The user after a provider has vouched for their address. If nobody had proved the address before, the password
    /// may have been set by somebody else who only claimed it. So the password is removed, and the caller ends the
    /// earlier sessions and other identities ([`Linking::first_proof`]).
    pub fn vouched_for(&self, now: Timestamp) -> Linking {
        let first_proof = self.email_verified_at.is_none();
        let password = if first_proof { None } else { self.password.clone() };
        let user = Self { password, ..self.proved(now) };
        Linking { user, seen: self.version, first_proof }
    }
}

impl Linking {
    /// Whether the identity may be added to those that the user `has`. If a proved address now belongs to another
    /// account at the same provider, it has changed hands, and its current holder is another person.
    pub fn may_add(&self, identity: &Identity, has: &[KnownIdentity]) -> bool {
        let same = |known: &KnownIdentity| known.provider == identity.provider && known.issuer == identity.issuer;
        self.first_proof || !has.iter().any(same)
    }
}

/// The result of linking an identity to the user with its address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Linking {
    /// The row to write.
    pub user: User,
    /// The version that was read.
    pub seen: Version,
    /// Whether this is the first proof of the address. If so, the account's earlier credentials stop working.
    pub first_proof: bool,
}

/// The user that an identity signs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignInAs {
    /// Nobody: the identity is unknown and has no address.
    Nobody,
    /// The user with that identity.
    Known(UserId),
    /// The user with that address, which the provider vouches for. The identity is added ([`User::vouched_for`]).
    Linked(UserId),
    /// A new user. Their address only counts as verified if the provider vouches for it.
    New,
    /// Nobody: the address belongs to a user, but the provider does not vouch for it. That user has to sign in as
    /// before.
    NotVouched,
}

/// The user that an identity signs in, given the user with the identity and the user with the address. Anyone may
/// claim an address that the provider does not vouch for, so such an address does not sign in the user who has it.
pub fn sign_in_as(identity: &Identity, by_subject: Option<UserId>, by_email: Option<UserId>) -> SignInAs {
    match (by_subject, by_email) {
        (None, _) if identity.email.is_none() => SignInAs::Nobody,
        (Some(user), _) => SignInAs::Known(user),
        (None, Some(user)) if identity.email_verified => SignInAs::Linked(user),
        (None, Some(_)) => SignInAs::NotVouched,
        (None, None) => SignInAs::New,
    }
}

#[cfg(test)]
mod tests {
    use std::{
        collections::HashMap,
        sync::atomic::{AtomicU8, Ordering},
    };

    use rstest::rstest;

    use super::*;

    struct Counting(AtomicU8);
    impl Entropy for Counting {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(self.0.fetch_add(1, Ordering::Relaxed));
        }
    }

    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    fn client(provider: Provider) -> Client {
        Client {
            provider,
            authorization_endpoint: Url::parse("https://provider.example/authorize?prompt=select_account").unwrap(),
            issuer: "https://provider.example".to_owned(),
            client_id: "kalends&co".to_owned(),
            redirect_uri: "https://calendar.example.com/v1/auth/oauth/google/callback".to_owned(),
        }
    }

    fn begun() -> BegunAttempt {
        Attempt::begin(&client(Provider::Google), None, NOW, &Counting(AtomicU8::new(1)))
    }

    fn attempt() -> Attempt {
        begun().attempt
    }

    #[test]
    fn the_challenge_matches_the_rfc() {
        // RFC 7636, appendix B.
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk".to_owned();
        let attempt = Attempt { verifier, ..attempt() };
        assert_eq!(attempt.challenge(), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }

    #[test]
    fn the_authorization_url_has_every_parameter() {
        let (begun, client) = (begun(), client(Provider::Google));
        let url = begun.authorization_url(&client, SIGN_IN_SCOPES);
        let BegunAttempt { attempt, state } = &begun;
        let pairs: HashMap<_, _> = url.query_pairs().into_owned().collect();
        let challenge = attempt.challenge();
        for (name, value) in [
            ("prompt", "select_account"),
            ("response_type", "code"),
            ("client_id", "kalends&co"),
            ("redirect_uri", client.redirect_uri.as_str()),
            ("scope", "openid email profile"),
            ("state", state.as_str()),
            ("nonce", attempt.nonce.as_str()),
            ("code_challenge", challenge.as_str()),
            ("code_challenge_method", "S256"),
        ] {
            assert_eq!(pairs.get(name).map(String::as_str), Some(value), "{name}");
        }
        assert_eq!(pairs.len(), 9);
        assert!(!url.as_str().contains(&attempt.verifier), "the verifier stays here");
        let secrets = [state, &attempt.nonce, &attempt.verifier];
        assert!(secrets.iter().all(|secret| secret.len() == 43));
        assert!(*state != attempt.nonce && attempt.nonce != attempt.verifier);
        assert_eq!(attempt.key, TokenHash::of(state));
        let printed = format!("{begun:?}{attempt:?}");
        assert!(secrets.iter().all(|secret| !printed.contains(secret.as_str())), "no secret is logged");
    }

    fn callback(begun: &BegunAttempt) -> Callback<'_> {
        Callback { state: Some(&begun.state), code: Some("c0de"), cookie: Some(&begun.state), ..Callback::default() }
    }

    #[test]
    fn a_valid_callback_becomes_a_token_request() {
        let begun = begun();
        let request = callback(&begun).check(Some(&begun.attempt), &client(Provider::Google), NOW).unwrap();
        assert_eq!(request.code, "c0de");
        let BegunAttempt { attempt, .. } = begun;
        assert_eq!((request.code_verifier, request.redirect_uri), (attempt.verifier, attempt.redirect_uri));
    }

    #[rstest]
    #[case::no_state(|callback: &mut Callback<'_>| callback.state = None, OauthError::State)]
    #[case::another_state(|callback: &mut Callback<'_>| callback.state = Some("x"), OauthError::State)]
    #[case::another_browser(|callback: &mut Callback<'_>| callback.cookie = None, OauthError::State)]
    #[case::another_browser_s_attempt(|callback: &mut Callback<'_>| callback.cookie = Some("x"), OauthError::State)]
    #[case::declined(|callback: &mut Callback<'_>| callback.error = Some("access_denied"), OauthError::Declined)]
    #[case::failed(|callback: &mut Callback<'_>| callback.error = Some("server_error"), OauthError::Provider)]
    #[case::no_code(|callback: &mut Callback<'_>| callback.code = None, OauthError::NoCode)]
    #[case::an_empty_code(|callback: &mut Callback<'_>| callback.code = Some(""), OauthError::NoCode)]
    #[case::mixed_up(|callback: &mut Callback<'_>| callback.issuer = Some("https://evil.example"), OauthError::Issuer)]
    #[case::declined_elsewhere(
        |callback: &mut Callback<'_>| { callback.error = Some("access_denied"); callback.state = Some("x"); },
        OauthError::State
    )]
    fn invalid_callbacks_are_refused(#[case] spoil: fn(&mut Callback<'_>), #[case] error: OauthError) {
        let begun = begun();
        let mut spoiled = callback(&begun);
        spoil(&mut spoiled);
        assert_eq!(spoiled.check(Some(&begun.attempt), &client(Provider::Google), NOW), Err(error));
    }

    #[test]
    fn an_attempt_belongs_to_one_provider_and_expires() {
        let begun = begun();
        let attempt = begun.attempt.clone();
        let check = |kept, provider, now| callback(&begun).check(kept, &client(provider), now);
        assert_eq!(check(None, Provider::Google, NOW), Err(OauthError::State), "unknown or used");
        assert_eq!(check(Some(&attempt), Provider::Microsoft, NOW), Err(OauthError::State));
        assert!(check(Some(&attempt), Provider::Google, NOW + ATTEMPT_LASTS - SignedDuration::micros(1)).is_ok());
        assert_eq!(check(Some(&attempt), Provider::Google, NOW + ATTEMPT_LASTS), Err(OauthError::State));
        let long = "c".repeat(VALUE_MAX + 1);
        let oversized = Callback { code: Some(&long), ..callback(&begun) };
        assert_eq!(oversized.check(Some(&attempt), &client(Provider::Google), NOW), Err(OauthError::NoCode));
    }

    fn claims(attempt: &Attempt) -> IdentityClaims {
        IdentityClaims {
            issuer: "https://provider.example".to_owned(),
            audience: vec!["kalends&co".to_owned()],
            authorized_party: None,
            subject: "10769150350006150715113082367".to_owned(),
            expires: NOW.as_unix_seconds() + 3_600,
            issued: NOW.as_unix_seconds(),
            nonce: Some(attempt.nonce.clone()),
            email: Some("Ada@Example.com".to_owned()),
            email_verified: true,
            name: Some("Ada".to_owned()),
        }
    }

    #[test]
    fn a_valid_identity_token_is_accepted() {
        let attempt = attempt();
        let identity = claims(&attempt).check(&attempt, &client(Provider::Google), NOW).unwrap();
        let email = identity.email.as_ref().map(Email::as_str);
        assert_eq!((email, identity.email_verified), (Some("ada@example.com"), true));
        let both = IdentityClaims {
            audience: vec!["other".to_owned(), "kalends&co".to_owned()],
            authorized_party: Some("kalends&co".to_owned()),
            ..claims(&attempt)
        };
        assert!(both.check(&attempt, &client(Provider::Google), NOW).is_ok());
    }

    #[rstest]
    #[case::another_issuer(|claims: &mut IdentityClaims| claims.issuer.push('/'), OauthError::Issuer)]
    #[case::another_audience(|claims: &mut IdentityClaims| claims.audience = vec!["other".to_owned()], OauthError::Audience)]
    #[case::no_audience(|claims: &mut IdentityClaims| claims.audience.clear(), OauthError::Audience)]
    #[case::several_and_no_party(|claims: &mut IdentityClaims| claims.audience.push("other".to_owned()), OauthError::Audience)]
    #[case::another_party(|claims: &mut IdentityClaims| claims.authorized_party = Some("other".to_owned()), OauthError::Audience)]
    #[case::expired(|claims: &mut IdentityClaims| claims.expires = NOW.as_unix_seconds() - 60, OauthError::Time)]
    #[case::of_the_future(|claims: &mut IdentityClaims| claims.issued = NOW.as_unix_seconds() + 61, OauthError::Time)]
    #[case::no_nonce(|claims: &mut IdentityClaims| claims.nonce = None, OauthError::Nonce)]
    #[case::another_nonce(|claims: &mut IdentityClaims| claims.nonce = Some("x".to_owned()), OauthError::Nonce)]
    #[case::no_subject(|claims: &mut IdentityClaims| claims.subject.clear(), OauthError::Nobody)]
    fn invalid_identity_tokens_are_refused(#[case] spoil: fn(&mut IdentityClaims), #[case] error: OauthError) {
        let attempt = attempt();
        let mut spoiled = claims(&attempt);
        spoil(&mut spoiled);
        assert_eq!(spoiled.check(&attempt, &client(Provider::Google), NOW), Err(error));
    }

    #[rstest]
    #[case::none(None)]
    #[case::no_real_one(Some("ada"))]
    fn without_an_address_only_known_identities_sign_in(#[case] email: Option<&str>) {
        let attempt = attempt();
        let claims = IdentityClaims { email: email.map(str::to_owned), ..claims(&attempt) };
        let identity = claims.check(&attempt, &client(Provider::Google), NOW).unwrap();
        assert!(identity.email.is_none() && !identity.email_verified);
        assert_eq!(sign_in_as(&identity, None, None), SignInAs::Nobody);
        assert_eq!(sign_in_as(&identity, Some(user(1)), None), SignInAs::Known(user(1)));
    }

    #[test]
    fn both_spellings_of_googles_issuer_are_accepted() {
        let (attempt, client) = (attempt(), client(Provider::Google));
        let claims = IdentityClaims { issuer: "provider.example".to_owned(), ..claims(&attempt) };
        assert_eq!(claims.check(&attempt, &client, NOW).unwrap().issuer, client.issuer);
    }

    #[test]
    fn an_address_that_changed_hands_opens_no_account() {
        let attempt = attempt();
        let identity = claims(&attempt).check(&attempt, &client(Provider::Google), NOW).unwrap();
        let email = Email::parse("email", "ada@example.com").unwrap();
        let ada = User::create(user(1), email, UserName::from_stored("Ada".to_owned()), None, NOW);
        let other = KnownIdentity { subject: "another".to_owned(), ..KnownIdentity::of(&identity, user(1), NOW) };
        let elsewhere = KnownIdentity { provider: Provider::Microsoft, ..other.clone() };
        // A user who only typed the address has not proved that they own it.
        let first = ada.vouched_for(NOW);
        assert!(first.may_add(&identity, std::slice::from_ref(&other)));
        let second = first.user.vouched_for(NOW);
        assert!(second.may_add(&identity, &[]) && second.may_add(&identity, std::slice::from_ref(&elsewhere)));
        assert!(!second.may_add(&identity, &[elsewhere, other]));
    }

    #[rstest]
    #[case::known(Some(1), None, true, SignInAs::Known(user(1)))]
    #[case::known_under_another_s_address(Some(1), Some(2), true, SignInAs::Known(user(1)))]
    #[case::linked(None, Some(2), true, SignInAs::Linked(user(2)))]
    #[case::an_address_that_nobody_vouches_for(None, Some(2), false, SignInAs::NotVouched)]
    #[case::new(None, None, true, SignInAs::New)]
    #[case::new_and_not_vouched_for(None, None, false, SignInAs::New)]
    fn an_identity_signs_in_its_user(
        #[case] by_subject: Option<u8>,
        #[case] by_email: Option<u8>,
        #[case] email_verified: bool,
        #[case] expected: SignInAs,
    ) {
        let attempt = attempt();
        let claims = IdentityClaims { email_verified, ..claims(&attempt) };
        let identity = claims.check(&attempt, &client(Provider::Google), NOW).unwrap();
        assert_eq!(sign_in_as(&identity, by_subject.map(user), by_email.map(user)), expected);
    }

    #[rstest]
    #[case::the_one("https://a.example/v2", "https://a.example/v2", true)]
    #[case::a_slash_more("https://a.example/v2", "https://a.example/v2/", false)]
    #[case::a_tenant(
        "https://a.example/{tenantid}/v2",
        "https://a.example/9188040d-6c67-4c5b-b112-36a304b66dad/v2",
        true
    )]
    #[case::no_tenant("https://a.example/{tenantid}/v2", "https://a.example//v2", false)]
    #[case::the_pattern_itself("https://a.example/{tenantid}/v2", "https://a.example/{tenantid}/v2", false)]
    #[case::a_path("https://a.example/{tenantid}/v2", "https://a.example/a/b/v2", false)]
    #[case::another_host("https://a.example/{tenantid}/v2", "https://b.example/a/v2", false)]
    #[case::a_longer_end("https://a.example/{tenantid}/v2", "https://a.example/a/v2/x", false)]
    #[case::an_overlap("https://a.example/{tenantid}/v2", "https://a.example/v2", false)]
    fn issuers_are_matched(#[case] of_client: &str, #[case] issuer: &str, #[case] known: bool) {
        let client = Client { issuer: of_client.to_owned(), ..client(Provider::Microsoft) };
        assert_eq!(client.is_issuer(issuer), known);
    }

    #[rstest]
    #[case::the_one("https://a.example/realm", "https://a.example/realm", true)]
    #[case::a_slash_more("https://a.example/realm", "https://a.example/realm/", false)]
    #[case::no_scheme("https://a.example/realm", "a.example/realm", false)]
    #[case::no_tenant("https://a.example/{tenantid}/v2", "https://a.example/b/v2", false)]
    fn the_issuer_of_an_own_provider_is_compared_exactly(
        #[case] of_client: &str,
        #[case] issuer: &str,
        #[case] known: bool,
    ) {
        let client = Client { issuer: of_client.to_owned(), ..client(Provider::Oidc) };
        assert_eq!(client.is_issuer(issuer), known);
    }

    #[test]
    fn the_first_proof_of_an_address_removes_the_password() {
        use crate::PasswordHash;
        let password = PasswordHash::new("$argon2id$".to_owned());
        let email = Email::parse("email", "ada@example.com").unwrap();
        let ada = User::create(user(1), email, UserName::from_stored("Ada".to_owned()), Some(password.clone()), NOW);
        let later = NOW + SignedDuration::hours(1);
        let first = ada.vouched_for(later);
        assert!(first.first_proof && first.user.password.is_none());
        assert_eq!(
            (first.user.email_verified_at, first.seen, first.user.version),
            (Some(later), ada.version, ada.version.next())
        );
        let proved = User { password: Some(password), ..first.user };
        let second = proved.vouched_for(later + SignedDuration::hours(1));
        assert!(!second.first_proof && second.user.password.is_some());
        assert_eq!(second.user.email_verified_at, Some(later));
    }

    #[test]
    fn new_users_have_a_name() {
        let attempt = attempt();
        let named = |name: Option<&str>| {
            let claims = IdentityClaims { name: name.map(str::to_owned), ..claims(&attempt) };
            claims
                .check(&attempt, &client(Provider::Google), NOW)
                .unwrap()
                .user_name(&Email::parse("email", "ada@example.com").unwrap())
                .as_str()
                .to_owned()
        };
        assert_eq!(named(Some(" Ada Lovelace ")), "Ada Lovelace");
        for unusable in [None, Some(""), Some("  "), Some(&*"x".repeat(101))] {
            assert_eq!(named(unusable), "ada", "{unusable:?}");
        }
        assert_eq!(parse_terms_version("2026-01-01"), Ok("2026-01-01".to_owned()));
        assert!(parse_terms_version("").is_err() && parse_terms_version(&"x".repeat(65)).is_err());
    }

    const fn user(number: u8) -> UserId {
        UserId::from_bytes([number; 16])
    }

    #[test]
    fn providers_have_names() {
        for provider in Provider::ALL {
            assert_eq!(Provider::from_name(provider.as_str()), Some(provider));
        }
        assert_eq!(Provider::from_name("apple"), None);
    }

    #[rstest]
    #[case::named("connections", Some("connections"))]
    #[case::page_of_a_link("connect", Some("connect/offer"))]
    #[case::page("/console/agents?offset=50&kind=a%26b", Some("agents?offset=50&kind=a%26b"))]
    #[case::the_first_page("/console", None)]
    #[case::nothing_below("/console/", None)]
    #[case::beside("/consoles/x", None)]
    #[case::elsewhere("https://evil.example/console/", None)]
    #[case::other_host("//evil.example/console/", None)]
    #[case::line("/console/a\r\nset-cookie: a=b", None)]
    #[case::other_letters("/console/\u{e4}", None)]
    #[case::unknown_name("plans", None)]
    #[case::nothing("", None)]
    fn a_sign_in_returns_to_pages_of_the_console(#[case] text: &str, #[case] path: Option<&str>) {
        let page = ReturnTo::parse("return_to", text).ok();
        assert_eq!(page.as_ref().map(ReturnTo::path), path);
        // The state brings the page back.
        if let Some(page) = page {
            let begun = BegunAttempt { attempt: attempt(), state: "secret".to_owned() }.returning_to(&page);
            assert_eq!(ReturnTo::of_state(&begun.state), Some(page));
            assert!(begun.attempt.key == TokenHash::of(&begun.state));
            assert!(begun.state.ends_with(".secret"));
        }
    }

    #[test]
    fn a_long_path_is_refused_and_a_state_is_read_with_care() {
        let path = |length: usize| format!("/console/{}", "a".repeat(length - "/console/".len()));
        let longest = ReturnTo::parse("return_to", &path(ConsolePage::MAX)).unwrap();
        assert!(longest.name().len() < VALUE_MAX / 2);
        assert!(ReturnTo::parse("return_to", &path(ConsolePage::MAX + 1)).is_err());
        let written = |path: &str| format!("page-{}.secret", base64url(path.as_bytes()));
        for state in ["secret", "page-.secret", "page-*.secret", "other.secret", &written("https://evil.example/")] {
            assert_eq!(ReturnTo::of_state(state), None, "{state}");
        }
    }

    #[test]
    fn an_own_provider_has_no_calendars() {
        for provider in Provider::ALL {
            let expected = (provider != Provider::Oidc).then_some(provider);
            assert_eq!(Provider::of_calendars(provider.as_str()), expected);
        }
        assert_eq!(Provider::of_calendars("apple"), None);
    }
}
