//! Tokens: the forms that ask for them, and what the endpoints answer (RFC 6749 sections 4.1.3, 5 and 6; RFC 7009).

use kalends_accounts::oauth::{Provider, TokenRequest};
use kalends_app::ports::ProviderError;
use kalends_bridge::{Scopes, Tokens};
use kalends_kernel::{SignedDuration, Timestamp};
use secrecy::ExposeSecret as _;
use serde::Deserialize;
use url::form_urlencoded;

use crate::{
    ProviderSettings,
    answer::{Malformed, plain, read, unavailable},
};

/// How long an access token is taken to last where the provider does not say.
const LASTS: i64 = 3_600;
/// The least and the most seconds that are believed.
const LASTS_BETWEEN: (i64, i64) = (60, 24 * 3_600);

/// The errors that only the human can mend, by consenting again (RFC 6749 sections 4.1.2.1 and 5.2; OpenID Connect Core
/// section 3.1.2.6, which Microsoft answers with at this endpoint too).
///
/// All others are not theirs. `invalid_client` and `unauthorized_client` are about the service's own registration: once the
/// operator has mended that, the old tokens are good again, so that nobody must be bothered for them.
const LAPSED: [&str; 6] = [
    "invalid_grant",
    "interaction_required",
    "consent_required",
    "login_required",
    "account_selection_required",
    "access_denied",
];

#[derive(Deserialize)]
struct Scoped {
    scope: Option<String>,
}

#[derive(Deserialize)]
struct Failure {
    error: String,
}

/// Some write numbers as texts.
#[derive(Deserialize)]
#[serde(untagged)]
enum Seconds {
    Number(i64),
    Text(String),
}

#[derive(Deserialize)]
struct Success {
    access_token: String,
    token_type: Option<String>,
    expires_in: Option<Seconds>,
    refresh_token: Option<String>,
}

/// The form that exchanges the code of a callback (RFC 6749 section 4.1.3, with PKCE).
pub(crate) fn authorizing(settings: &ProviderSettings, request: &TokenRequest) -> String {
    form(&[
        ("grant_type", "authorization_code"),
        ("code", &request.code),
        ("redirect_uri", &request.redirect_uri),
        ("code_verifier", &request.code_verifier),
        ("client_id", &settings.client.client_id),
        ("client_secret", settings.client_secret.expose_secret()),
    ])
}

/// The form that asks for another access token (RFC 6749 section 6). Without a scope it is for what was consented to.
pub(crate) fn renewing(settings: &ProviderSettings, tokens: &Tokens) -> String {
    form(&[
        ("grant_type", "refresh_token"),
        ("refresh_token", &tokens.refresh),
        ("client_id", &settings.client.client_id),
        ("client_secret", settings.client_secret.expose_secret()),
    ])
}

/// The form that gives the consent back (RFC 7009 section 2.1). Google forgets the access tokens with the refresh token.
pub(crate) fn revoking(tokens: &Tokens) -> String {
    form(&[("token", &tokens.refresh)])
}

fn form(fields: &[(&str, &str)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
}

/// The tokens in the answer of a token endpoint at `now`. Where it brings no refresh token, `known` stays.
///
/// # Errors
/// [`ProviderError::Lapsed`] for what only the human can mend.
pub(crate) fn granted(status: u16, body: &[u8], known: Option<&str>, now: Timestamp) -> Result<Tokens, ProviderError> {
    if status != 200 {
        let error = read("an error", body).map(|Failure { error }| error).ok();
        return Err(match error {
            Some(error) if matches!(status, 400 | 401 | 403) && LAPSED.contains(&error.as_str()) => {
                ProviderError::Lapsed(plain(&error))
            }
            error => unavailable(status, error.as_deref()),
        });
    }
    let Success { access_token: access, token_type, expires_in, refresh_token } = read("an answer with tokens", body)?;
    // A token of another type is used in another way (RFC 6749 section 7.1).
    if token_type.is_some_and(|kind| !kind.eq_ignore_ascii_case("bearer")) {
        return Err(Malformed::Sense("the answer tells a token that is no bearer token").into());
    }
    if !is_token(&access) {
        return Err(Malformed::Sense("the answer tells no access token").into());
    }
    let refresh = refresh_token.as_deref().filter(|token| !token.is_empty()).or(known);
    let refresh =
        refresh.filter(|token| is_token(token)).ok_or(Malformed::Sense("the answer tells no refresh token"))?;
    let lasts = match expires_in {
        None => Some(LASTS),
        Some(Seconds::Number(seconds)) => Some(seconds),
        Some(Seconds::Text(text)) => text.parse().ok(),
    };
    let lasts = lasts.ok_or(Malformed::Sense("the answer does not tell how long its token lasts"))?;
    let (least, most) = LASTS_BETWEEN;
    let access_until = now + SignedDuration::seconds(lasts.clamp(least, most));
    Ok(Tokens { access, access_until, refresh: refresh.to_owned() })
}

/// Whether a consent lets us do what it was asked for. Google lets its humans consent to some of it, and tells to what;
/// Microsoft asks for all of it or nothing.
///
/// # Errors
/// [`ProviderError::Lapsed`] where something is missing: only the human can mend it.
pub(crate) fn suffices(provider: Provider, body: &[u8]) -> Result<(), ProviderError> {
    let Scoped { scope } = read("an answer with tokens", body)?;
    let told = match provider {
        Provider::Google => scope,
        Provider::Microsoft => None,
    };
    let Some(told) = told else { return Ok(()) };
    let suffices =
        Scopes::availability(provider).0.split_whitespace().all(|asked| told.split(' ').any(|told| told == asked));
    if suffices { Ok(()) } else { Err(ProviderError::Lapsed("insufficient_scope".to_owned())) }
}

/// Whether a text can be a token (RFC 6749 appendices A.12 and A.17), and go into a header.
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| matches!(byte, 0x20..=0x7e))
}

/// Whether a consent is gone after this answer of a revocation endpoint. A token that is not known any more is not an error:
/// the human may have taken it back at the provider (RFC 7009 section 2.2; Google answers `invalid_token` then).
pub(crate) fn revoked(status: u16, body: &[u8]) -> Result<(), ProviderError> {
    if status == 200 {
        return Ok(());
    }
    let error = read("an error", body).map(|Failure { error }| error).ok();
    match error.as_deref() {
        Some("invalid_token") if status == 400 => Ok(()),
        error => Err(unavailable(status, error)),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    fn whole() -> Value {
        json!({
            "access_token": "ya29.a", "token_type": "Bearer", "expires_in": 3599, "refresh_token": "1//r",
            "scope": "https://www.googleapis.com/auth/calendar.freebusy", "refresh_token_expires_in": 604799
        })
    }

    /// The whole answer with these fields instead; null takes one away.
    fn but(fields: &Value) -> Vec<u8> {
        let mut answer = whole();
        let answer_s = answer.as_object_mut().unwrap();
        answer_s.extend(fields.as_object().unwrap().clone());
        answer_s.retain(|_, value| !value.is_null());
        answer.to_string().into_bytes()
    }

    fn tokens(seconds: i64, refresh: &str) -> Tokens {
        Tokens {
            access: "ya29.a".into(),
            access_until: NOW + SignedDuration::seconds(seconds),
            refresh: refresh.into(),
        }
    }

    #[rstest]
    #[case::all(
        Provider::Google,
        r#"{"scope":"https://www.googleapis.com/auth/calendar.calendarlist.readonly openid https://www.googleapis.com/auth/calendar.freebusy"}"#,
        true
    )]
    #[case::some(
        Provider::Google,
        r#"{"scope":"https://www.googleapis.com/auth/calendar.calendarlist.readonly"}"#,
        false
    )]
    #[case::none(Provider::Google, r#"{"scope":""}"#, false)]
    #[case::unsaid(Provider::Google, "{}", true)]
    #[case::of_another_kind(Provider::Microsoft, r#"{"scope":"Calendars.ReadBasic"}"#, true)]
    fn a_consent_is_for_all_that_was_asked(#[case] provider: Provider, #[case] body: &str, #[case] enough: bool) {
        assert_eq!(suffices(provider, body.as_bytes()).is_ok(), enough);
    }

    #[rstest]
    #[case::as_told(json!({}), None, tokens(3_599, "1//r"))]
    #[case::rotated(json!({}), Some("old"), tokens(3_599, "1//r"))]
    #[case::kept(json!({ "refresh_token": null }), Some("old"), tokens(3_599, "old"))]
    #[case::emptied(json!({ "refresh_token": "" }), Some("old"), tokens(3_599, "old"))]
    #[case::unsaid(json!({ "expires_in": null }), None, tokens(3_600, "1//r"))]
    #[case::a_text(json!({ "expires_in": "1800" }), None, tokens(1_800, "1//r"))]
    #[case::at_once(json!({ "expires_in": 0 }), None, tokens(60, "1//r"))]
    #[case::before(json!({ "expires_in": -5 }), None, tokens(60, "1//r"))]
    #[case::for_long(json!({ "expires_in": i64::MAX }), None, tokens(86_400, "1//r"))]
    #[case::another_case(json!({ "token_type": "bearer" }), None, tokens(3_599, "1//r"))]
    #[case::no_type(json!({ "token_type": null }), None, tokens(3_599, "1//r"))]
    fn tokens_are_read(#[case] fields: Value, #[case] known: Option<&str>, #[case] expected: Tokens) {
        assert_eq!(granted(200, &but(&fields), known, NOW).unwrap(), expected);
    }

    #[rstest]
    #[case::no_refresh_token(json!({ "refresh_token": null }), "the answer tells no refresh token")]
    #[case::no_access_token(json!({ "access_token": "" }), "the answer tells no access token")]
    #[case::two_lines(json!({ "access_token": "a\r\nb" }), "the answer tells no access token")]
    #[case::no_letters(json!({ "refresh_token": "é" }), "the answer tells no refresh token")]
    #[case::another_type(json!({ "token_type": "mac" }), "the answer tells a token that is no bearer token")]
    #[case::no_number(json!({ "expires_in": "soon" }), "the answer does not tell how long its token lasts")]
    fn what_cannot_be_meant(#[case] fields: Value, #[case] said: &str) {
        let Err(ProviderError::Malformed(error)) = granted(200, &but(&fields), None, NOW) else { panic!("malformed") };
        assert_eq!(error.to_string(), said);
    }

    #[rstest]
    #[case::nothing(b"".as_slice())]
    #[case::not_json(b"<html>")]
    #[case::cut_off(br#"{"access_token":"secret","refresh_to"#)]
    #[case::no_object(br#"["secret"]"#)]
    #[case::wrong_type(br#"{"access_token":{"secret":1},"refresh_token":"secret"}"#)]
    #[case::wrong_number(br#"{"access_token":"secret","refresh_token":"secret","expires_in":1.5}"#)]
    #[case::no_text(b"{\"access_token\":\"secret\xff\"}")]
    #[case::an_error(br#"{"error":"invalid_grant"}"#)]
    fn what_makes_no_sense(#[case] body: &[u8]) {
        let read = granted(200, body, Some("known"), NOW);
        assert!(matches!(read, Err(ProviderError::Malformed(_))), "{read:?}");
        assert!(!format!("{read:?}").contains("secret"), "{read:?}");
    }

    #[rstest]
    #[case(400, "invalid_grant", Some("invalid_grant"))]
    #[case(401, "invalid_grant", Some("invalid_grant"))]
    #[case(400, "interaction_required", Some("interaction_required"))]
    #[case(400, "consent_required", Some("consent_required"))]
    #[case(400, "login_required", Some("login_required"))]
    #[case(403, "access_denied", Some("access_denied"))]
    #[case::the_client_is_wrong(401, "invalid_client", None)]
    #[case::the_client_may_not(400, "unauthorized_client", None)]
    #[case::the_client_is_gone(401, "deleted_client", None)]
    #[case::the_request_is_wrong(400, "invalid_request", None)]
    #[case::the_scope_is_wrong(400, "invalid_scope", None)]
    #[case::not_now(400, "temporarily_unavailable", None)]
    #[case::too_often(429, "invalid_grant", None)]
    #[case::broken(500, "invalid_grant", None)]
    #[case::elsewhere(302, "invalid_grant", None)]
    fn whom_an_error_is_for(#[case] status: u16, #[case] error: &str, #[case] lapsed: Option<&str>) {
        let body = json!({ "error": error, "error_description": "of ada@example.com", "error_codes": [70000] });
        match (granted(status, body.to_string().as_bytes(), Some("old"), NOW), lapsed) {
            (Err(ProviderError::Lapsed(told)), Some(expected)) => assert_eq!(told, expected),
            (Err(ProviderError::Unavailable(told)), None) => {
                assert_eq!(told.to_string(), format!("it answers with status {status} ({error})"));
            }
            (told, _) => panic!("{told:?}"),
        }
    }

    #[rstest]
    #[case(400, b"<html>ada@example.com".as_slice())]
    #[case(401, br#"{"error":{"code":7,"message":"ada@example.com"}}"#)]
    #[case(503, b"")]
    fn errors_may_be_anything(#[case] status: u16, #[case] body: &[u8]) {
        let Err(ProviderError::Unavailable(told)) = granted(status, body, None, NOW) else { panic!("unavailable") };
        assert_eq!(told.to_string(), format!("it answers with status {status}"));
    }

    #[rstest]
    #[case(200, "", true)]
    #[case(200, "{}", true)]
    #[case::gone_already(400, r#"{"error":"invalid_token","error_description":"Token expired or revoked"}"#, true)]
    #[case(400, r#"{"error":"invalid_request"}"#, false)]
    #[case(400, "x", false)]
    #[case(429, r#"{"error":"invalid_token"}"#, false)]
    #[case(503, "", false)]
    fn a_consent_is_forgotten(#[case] status: u16, #[case] body: &str, #[case] gone: bool) {
        match revoked(status, body.as_bytes()) {
            Ok(()) => assert!(gone),
            Err(ProviderError::Unavailable(_)) => assert!(!gone),
            Err(error) => panic!("{error:?}"),
        }
    }
}
