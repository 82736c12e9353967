//! Signing in with a provider: what is asked of it, and how its answer is checked (ruling 3.10).
//!
//! The authorization-code flow with state, nonce and PKCE (S256). The values of one attempt are kept under
//! the hash of its state, for [`ATTEMPT_LASTS`] and for one use; the state itself also goes into a cookie, so
//! that nobody can be signed in with somebody else's answer. Talking to the provider, and checking the
//! signature of what it says, is an adapter's work.

use std::fmt;

use kalends_kernel::{Elapsed, Entropy, Instant, UserId, base64url, random_bytes};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use url::Url;

use crate::{Email, TokenHash};

/// How long a human may take at the provider.
pub const ATTEMPT_LASTS: Elapsed = Elapsed::minutes(10);
/// The name of the cookie that binds an attempt to the browser.
pub const STATE_COOKIE: &str = "service_oauth_state";
/// How far the provider's clock may be apart from ours.
const LEEWAY: i64 = 60;
/// The most bytes of a code or state that a callback brings.
const VALUE_MAX: usize = 2_048;

/// A provider of identities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Provider {
    /// Google.
    Google,
    /// Microsoft.
    Microsoft,
}

impl Provider {
    /// Every provider.
    pub const ALL: [Self; 2] = [Self::Google, Self::Microsoft];

    /// The name in `GET /v1/auth/oauth/:provider` and in stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Google => "google",
            Self::Microsoft => "microsoft",
        }
    }

    /// The provider of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|provider| provider.as_str() == name)
    }
}

/// The least that tells who somebody is.
pub const SIGN_IN_SCOPES: &str = "openid email profile";

/// Where and as whom the provider is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    /// The provider.
    pub provider: Provider,
    /// Its authorization endpoint.
    pub authorization_endpoint: Url,
    /// What its identity tokens name as their issuer.
    pub issuer: String,
    /// Our identifier there.
    pub client_id: String,
    /// Where it sends the human back; exactly one address, never taken from a request.
    pub redirect_uri: String,
}

/// The secrets of one attempt to sign in.
#[derive(Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The provider that was asked.
    pub provider: Provider,
    /// What the provider hands back unchanged.
    pub state: String,
    /// What its identity token must repeat.
    pub nonce: String,
    /// The PKCE code verifier.
    pub verifier: String,
    /// Where the human is sent back, repeated when the code is exchanged.
    pub redirect_uri: String,
    /// When the attempt ends.
    pub expires_at: Instant,
}

impl fmt::Debug for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attempt")
            .field("provider", &self.provider)
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}

impl Attempt {
    /// A fresh attempt: 256 random bits for each of its values.
    pub fn begin(client: &Client, now: Instant, entropy: &dyn Entropy) -> Self {
        let secret = || base64url(&random_bytes::<32>(entropy));
        Self {
            provider: client.provider,
            state: secret(),
            nonce: secret(),
            verifier: secret(),
            redirect_uri: client.redirect_uri.clone(),
            expires_at: now + ATTEMPT_LASTS,
        }
    }

    /// The hash of the state, under which the attempt is kept.
    pub fn key(&self) -> TokenHash {
        TokenHash::of(&self.state)
    }

    /// The PKCE challenge of method S256 (RFC 7636 section 4.2).
    pub fn challenge(&self) -> String {
        base64url(&Sha256::digest(self.verifier.as_bytes()))
    }

    /// Where the human is sent. Parameters that the endpoint has already are kept.
    pub fn authorization_url(&self, client: &Client, scopes: &str) -> Url {
        let mut url = client.authorization_endpoint.clone();
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &client.client_id)
            .append_pair("redirect_uri", &self.redirect_uri)
            .append_pair("scope", scopes)
            .append_pair("state", &self.state)
            .append_pair("nonce", &self.nonce)
            .append_pair("code_challenge", &self.challenge())
            .append_pair("code_challenge_method", "S256");
        url
    }
}

/// What a browser brings back from the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Callback<'a> {
    /// The parameter `state`.
    pub state: Option<&'a str>,
    /// The parameter `code`.
    pub code: Option<&'a str>,
    /// The parameter `error`.
    pub error: Option<&'a str>,
    /// The parameter `iss` (RFC 9207), where the provider sends one.
    pub issuer: Option<&'a str>,
    /// The value of the cookie [`STATE_COOKIE`].
    pub cookie: Option<&'a str>,
}

/// Why somebody is not signed in. Callers are told that signing in did not work, the log which it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum OauthError {
    /// The state is missing, unknown, used, expired, of another provider or of another browser.
    #[error("the attempt to sign in is not known, or took too long; begin again")]
    State,
    /// The human or the provider said no.
    #[error("the provider did not let the sign-in happen")]
    Declined,
    /// No usable code came back.
    #[error("the provider sent no code")]
    NoCode,
    /// The answer names another issuer.
    #[error("the answer is of another issuer")]
    Issuer,
    /// The identity token is for somebody else's client.
    #[error("the identity is for another client")]
    Audience,
    /// The identity token is expired or not yet valid.
    #[error("the identity is out of date")]
    Time,
    /// The identity token answers another attempt.
    #[error("the identity is of another attempt")]
    Nonce,
    /// The identity token names nobody, or no usable address.
    #[error("the provider tells no subject or no e-mail address")]
    Nobody,
}

/// What is sent to the provider's token endpoint, beside the client's own credentials.
#[derive(Clone, PartialEq, Eq)]
pub struct TokenRequest {
    /// The code.
    pub code: String,
    /// The PKCE verifier.
    pub code_verifier: String,
    /// The same address as before.
    pub redirect_uri: String,
}

impl fmt::Debug for TokenRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenRequest(…)")
    }
}

impl Callback<'_> {
    /// Checks what came back. `attempt` is what was kept under the hash of the state; it is used up by this
    /// call, whatever comes of it.
    ///
    /// # Errors
    /// [`OauthError`]: the state first, so that nothing is said to whoever does not have it.
    pub fn check(self, attempt: Option<&Attempt>, client: &Client, now: Instant) -> Result<TokenRequest, OauthError> {
        let same = |text: Option<&str>, state: &str| {
            text.is_some_and(|text| bool::from(text.as_bytes().ct_eq(state.as_bytes())))
        };
        let attempt = attempt
            .filter(|attempt| {
                attempt.provider == client.provider
                    && now < attempt.expires_at
                    && same(self.state, &attempt.state)
                    && same(self.cookie, &attempt.state)
            })
            .ok_or(OauthError::State)?;
        if self.issuer.is_some_and(|issuer| issuer != client.issuer) {
            return Err(OauthError::Issuer);
        }
        if self.error.is_some() {
            return Err(OauthError::Declined);
        }
        let code = self.code.filter(|code| (1..=VALUE_MAX).contains(&code.len())).ok_or(OauthError::NoCode)?;
        Ok(TokenRequest {
            code: code.to_owned(),
            code_verifier: attempt.verifier.clone(),
            redirect_uri: attempt.redirect_uri.clone(),
        })
    }
}

/// What the provider's identity token says, its signature being checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentityClaims {
    /// `iss`.
    pub issuer: String,
    /// `aud`: one or several.
    pub audience: Vec<String>,
    /// `azp`: for whom it was made, where there are several.
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
    /// Whether the provider vouches for the address: Google's `email_verified`, Microsoft's `xms_edov`.
    pub email_verified: bool,
    /// `name`.
    pub name: Option<String>,
}

/// Who somebody is at a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The provider.
    pub provider: Provider,
    /// The issuer, since a provider may have several.
    pub issuer: String,
    /// The lasting identifier there. Addresses change hands; this does not.
    pub subject: String,
    /// The address.
    pub email: Email,
    /// Whether the provider vouches for it.
    pub email_verified: bool,
    /// The name, if told.
    pub name: Option<String>,
}

impl IdentityClaims {
    /// Checks an identity token against the attempt and the client that it answers (OpenID Connect Core
    /// section 3.1.3.7).
    ///
    /// # Errors
    /// [`OauthError`].
    pub fn check(self, attempt: &Attempt, client: &Client, now: Instant) -> Result<Identity, OauthError> {
        if attempt.provider != client.provider || self.issuer != client.issuer {
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
        let email = self.email.as_deref().and_then(|email| Email::parse("email", email).ok());
        let email = email.filter(|_| (1..=255).contains(&self.subject.len())).ok_or(OauthError::Nobody)?;
        Ok(Identity {
            provider: client.provider,
            issuer: self.issuer,
            subject: self.subject,
            email,
            email_verified: self.email_verified,
            name: self.name,
        })
    }
}

/// Whom an identity signs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignInAs {
    /// A human who is known by that identity.
    Known(UserId),
    /// A human who is known by the address, for which the provider vouches: the identity is added.
    Linked(UserId),
    /// Somebody new. Their address counts as verified only where the provider vouches for it.
    New,
    /// The address is a known human's, and nobody vouches for it: they sign in as before.
    NotVouched,
}

/// Whom an identity signs in, given who is known by the identity and who by the address. An address that
/// the provider does not vouch for may be anybody's claim, so that it opens no account.
pub fn sign_in_as(identity: &Identity, by_subject: Option<UserId>, by_email: Option<UserId>) -> SignInAs {
    match (by_subject, by_email) {
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

    const NOW: Instant = Instant::from_micros(1_800_000_000_000_000);

    fn client(provider: Provider) -> Client {
        Client {
            provider,
            authorization_endpoint: Url::parse("https://provider.example/authorize?prompt=select_account").unwrap(),
            issuer: "https://provider.example".to_owned(),
            client_id: "kalends&co".to_owned(),
            redirect_uri: "https://calendar.example.com/v1/auth/oauth/google/callback".to_owned(),
        }
    }

    fn attempt() -> Attempt {
        Attempt::begin(&client(Provider::Google), NOW, &Counting(AtomicU8::new(1)))
    }

    #[test]
    fn the_challenge_is_the_rfc_s() {
        // RFC 7636, appendix B.
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk".to_owned();
        let attempt = Attempt { verifier, ..attempt() };
        assert_eq!(attempt.challenge(), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }

    #[test]
    fn the_provider_is_asked_with_everything() {
        let (attempt, client) = (attempt(), client(Provider::Google));
        let url = attempt.authorization_url(&client, SIGN_IN_SCOPES);
        let pairs: HashMap<_, _> = url.query_pairs().into_owned().collect();
        let challenge = attempt.challenge();
        for (name, value) in [
            ("prompt", "select_account"),
            ("response_type", "code"),
            ("client_id", "kalends&co"),
            ("redirect_uri", client.redirect_uri.as_str()),
            ("scope", "openid email profile"),
            ("state", attempt.state.as_str()),
            ("nonce", attempt.nonce.as_str()),
            ("code_challenge", challenge.as_str()),
            ("code_challenge_method", "S256"),
        ] {
            assert_eq!(pairs.get(name).map(String::as_str), Some(value), "{name}");
        }
        assert_eq!(pairs.len(), 9);
        assert!(!url.as_str().contains(&attempt.verifier), "the verifier stays here");
        let secrets = [&attempt.state, &attempt.nonce, &attempt.verifier];
        assert!(secrets.iter().all(|secret| secret.len() == 43));
        assert!(attempt.state != attempt.nonce && attempt.nonce != attempt.verifier);
        let shown = format!("{attempt:?}");
        assert!(secrets.iter().all(|secret| !shown.contains(secret.as_str())), "no secret shows in a log");
    }

    fn callback(attempt: &Attempt) -> Callback<'_> {
        Callback {
            state: Some(&attempt.state),
            code: Some("c0de"),
            cookie: Some(&attempt.state),
            ..Callback::default()
        }
    }

    #[test]
    fn an_answer_is_exchanged_for_a_token() {
        let attempt = attempt();
        let request = callback(&attempt).check(Some(&attempt), &client(Provider::Google), NOW).unwrap();
        assert_eq!(request.code, "c0de");
        assert_eq!((request.code_verifier, request.redirect_uri), (attempt.verifier, attempt.redirect_uri));
    }

    #[rstest]
    #[case::no_state(|callback: &mut Callback<'_>| callback.state = None, OauthError::State)]
    #[case::another_state(|callback: &mut Callback<'_>| callback.state = Some("x"), OauthError::State)]
    #[case::another_browser(|callback: &mut Callback<'_>| callback.cookie = None, OauthError::State)]
    #[case::another_browser_s_attempt(|callback: &mut Callback<'_>| callback.cookie = Some("x"), OauthError::State)]
    #[case::declined(|callback: &mut Callback<'_>| callback.error = Some("access_denied"), OauthError::Declined)]
    #[case::no_code(|callback: &mut Callback<'_>| callback.code = None, OauthError::NoCode)]
    #[case::an_empty_code(|callback: &mut Callback<'_>| callback.code = Some(""), OauthError::NoCode)]
    #[case::mixed_up(|callback: &mut Callback<'_>| callback.issuer = Some("https://evil.example"), OauthError::Issuer)]
    #[case::declined_elsewhere(
        |callback: &mut Callback<'_>| { callback.error = Some("access_denied"); callback.state = Some("x"); },
        OauthError::State
    )]
    fn answers_that_do_not_count(#[case] spoil: fn(&mut Callback<'_>), #[case] error: OauthError) {
        let attempt = attempt();
        let mut spoiled = callback(&attempt);
        spoil(&mut spoiled);
        assert_eq!(spoiled.check(Some(&attempt), &client(Provider::Google), NOW), Err(error));
    }

    #[test]
    fn an_attempt_is_of_one_provider_and_ends() {
        let attempt = attempt();
        let check = |kept, provider, now| callback(&attempt).check(kept, &client(provider), now);
        assert_eq!(check(None, Provider::Google, NOW), Err(OauthError::State), "unknown or used");
        assert_eq!(check(Some(&attempt), Provider::Microsoft, NOW), Err(OauthError::State));
        assert!(check(Some(&attempt), Provider::Google, NOW + ATTEMPT_LASTS - Elapsed::micros(1)).is_ok());
        assert_eq!(check(Some(&attempt), Provider::Google, NOW + ATTEMPT_LASTS), Err(OauthError::State));
        let long = "c".repeat(VALUE_MAX + 1);
        let oversized = Callback { code: Some(&long), ..callback(&attempt) };
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
    fn an_identity_is_read() {
        let attempt = attempt();
        let identity = claims(&attempt).check(&attempt, &client(Provider::Google), NOW).unwrap();
        assert_eq!((identity.email.as_str(), identity.email_verified), ("ada@example.com", true));
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
    #[case::no_address(|claims: &mut IdentityClaims| claims.email = None, OauthError::Nobody)]
    #[case::no_real_address(|claims: &mut IdentityClaims| claims.email = Some("ada".to_owned()), OauthError::Nobody)]
    fn identities_that_do_not_count(#[case] spoil: fn(&mut IdentityClaims), #[case] error: OauthError) {
        let attempt = attempt();
        let mut spoiled = claims(&attempt);
        spoil(&mut spoiled);
        assert_eq!(spoiled.check(&attempt, &client(Provider::Google), NOW), Err(error));
    }

    #[rstest]
    #[case::known(Some(1), None, true, SignInAs::Known(user(1)))]
    #[case::known_under_another_s_address(Some(1), Some(2), true, SignInAs::Known(user(1)))]
    #[case::linked(None, Some(2), true, SignInAs::Linked(user(2)))]
    #[case::an_address_that_nobody_vouches_for(None, Some(2), false, SignInAs::NotVouched)]
    #[case::new(None, None, true, SignInAs::New)]
    #[case::new_and_not_vouched_for(None, None, false, SignInAs::New)]
    fn who_is_signed_in(
        #[case] by_subject: Option<u8>,
        #[case] by_email: Option<u8>,
        #[case] email_verified: bool,
        #[case] whom: SignInAs,
    ) {
        let attempt = attempt();
        let claims = IdentityClaims { email_verified, ..claims(&attempt) };
        let identity = claims.check(&attempt, &client(Provider::Google), NOW).unwrap();
        assert_eq!(sign_in_as(&identity, by_subject.map(user), by_email.map(user)), whom);
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
}
