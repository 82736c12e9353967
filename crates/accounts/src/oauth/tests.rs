//! Attempts to sign in, and their callbacks.

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

pub(super) const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

pub(super) fn client(provider: Provider) -> Client {
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

pub(super) fn attempt() -> Attempt {
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
