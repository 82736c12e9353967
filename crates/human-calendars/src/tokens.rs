//! Tokens: request forms, and the answers of the endpoints (RFC 6749 sections 4.1.3, 5 and 6; RFC 7009).

use kalends_accounts::oauth::{Provider, TokenRequest};
use kalends_app::ports::ProviderError;
use kalends_bridge::{Scopes, Tokens};
use kalends_time::{SignedDuration, Timestamp};
use secrecy::ExposeSecret as _;
use serde::Deserialize;
use url::form_urlencoded;

use crate::{
    ProviderSettings,
    answer::{Malformed, plain, read, unavailable},
};

/// The assumed lifetime of an access token if the provider does not state it, in seconds.
const LASTS: i64 = 3_600;
/// The minimum and maximum lifetime that is accepted, in seconds.
const LASTS_BETWEEN: (i64, i64) = (60, 24 * 3_600);

/// The errors that only the user can fix, by giving consent again (RFC 6749 sections 4.1.2.1 and 5.2; OpenID Connect
/// Core section 3.1.2.6, whose errors Microsoft also returns from this endpoint).
///
/// No other error is for the user. `invalid_client` and `unauthorized_client` are about the service's own
/// registration: once the operator has fixed that, the old tokens work again, so users must not be asked for consent.
const LAPSED: [&str; 6] = [
    "invalid_grant",
    "interaction_required",
    "consent_required",
    "login_required",
    "account_selection_required",
    "access_denied",
];

/// The permissions of Microsoft that include reading busy times, and the one that includes writing events.
const READING: [&str; 3] = ["Calendars.ReadBasic", "Calendars.Read", WRITING];
const WRITING: &str = "Calendars.ReadWrite";
/// What may precede a permission in the list of granted scopes.
const RESOURCE: &str = "https://graph.microsoft.com/";

#[derive(Deserialize)]
struct Scoped {
    scope: Option<String>,
}

#[derive(Deserialize)]
struct Failure {
    error: String,
}

/// A number of seconds. Some providers write numbers as strings.
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
    scope: Option<String>,
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

/// The form that requests another access token (RFC 6749 section 6). The form has no scope, so the token is for
/// everything that the user consented to.
pub(crate) fn renewing(settings: &ProviderSettings, tokens: &Tokens) -> String {
    form(&[
        ("grant_type", "refresh_token"),
        ("refresh_token", &tokens.refresh),
        ("client_id", &settings.client.client_id),
        ("client_secret", settings.client_secret.expose_secret()),
    ])
}

/// The form that revokes the consent (RFC 7009 section 2.1). Google invalidates the access tokens together with the
/// refresh token.
pub(crate) fn revoking(tokens: &Tokens) -> String {
    form(&[("token", &tokens.refresh)])
}

fn form(fields: &[(&str, &str)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
}

/// The tokens in the answer of a token endpoint at `now`. If the answer has no refresh token or no scopes, those of
/// `known` are kept.
///
/// # Errors
/// [`ProviderError::Lapsed`] for errors that only the user can fix.
pub(crate) fn granted(
    status: u16,
    body: &[u8],
    known: Option<&Tokens>,
    now: Timestamp,
) -> Result<Tokens, ProviderError> {
    if status != 200 {
        let error = read("an error", body).map(|Failure { error }| error).ok();
        return Err(match error {
            Some(error) if matches!(status, 400 | 401 | 403) && LAPSED.contains(&error.as_str()) => {
                ProviderError::Lapsed(plain(&error))
            }
            error => unavailable(status, error.as_deref()),
        });
    }
    let Success { access_token: access, token_type, expires_in, refresh_token, scope } =
        read("an answer with tokens", body)?;
    // Tokens of other types are used differently (RFC 6749 section 7.1).
    if token_type.is_some_and(|kind| !kind.eq_ignore_ascii_case("bearer")) {
        return Err(Malformed::Sense("the token in the answer is not a bearer token").into());
    }
    if !is_token(&access) {
        return Err(Malformed::Sense("the answer has no valid access token").into());
    }
    let refresh = refresh_token.as_deref().filter(|token| !token.is_empty());
    let refresh = refresh.or(known.map(|known| known.refresh.as_str()));
    let refresh =
        refresh.filter(|token| is_token(token)).ok_or(Malformed::Sense("the answer has no valid refresh token"))?;
    let lasts = match expires_in {
        None => Some(LASTS),
        Some(Seconds::Number(seconds)) => Some(seconds),
        Some(Seconds::Text(text)) => text.parse().ok(),
    };
    let lasts = lasts.ok_or(Malformed::Sense("the answer has no valid token lifetime"))?;
    let (least, most) = LASTS_BETWEEN;
    let access_until = now + SignedDuration::seconds(lasts.clamp(least, most));
    let publishing = match scope {
        Some(scope) => has_one_of(&[WRITING], &scope),
        None => known.is_some_and(|known| known.publishing),
    };
    Ok(Tokens { access, access_until, refresh: refresh.to_owned(), publishing })
}

/// Whether a list of scopes has one of these permissions of Microsoft.
fn has_one_of(permissions: &[&str], scopes: &str) -> bool {
    let named = |scope: &str| {
        let resource = scope.get(..RESOURCE.len()).filter(|start| start.eq_ignore_ascii_case(RESOURCE));
        let permission = resource.and_then(|_| scope.get(RESOURCE.len()..)).unwrap_or(scope);
        permissions.iter().any(|known| known.eq_ignore_ascii_case(permission))
    };
    scopes.split_whitespace().any(named)
}

/// Checks that a consent covers reading busy times. Users of Google can grant a part of what was asked for, and the
/// answer lists that part. Microsoft has several permissions that cover it. Whether events may be written is in the
/// tokens.
///
/// # Errors
/// [`ProviderError::Lapsed`] if something is missing, which only the user can fix.
pub(crate) fn suffices(provider: Provider, body: &[u8]) -> Result<(), ProviderError> {
    let Scoped { scope } = read("an answer with tokens", body)?;
    let Some(scopes) = scope else { return Ok(()) };
    let suffices = match provider {
        Provider::Google => Scopes::availability(provider)
            .0
            .split_whitespace()
            .all(|requested| scopes.split(' ').any(|scope| scope == requested)),
        Provider::Microsoft => has_one_of(&READING, &scopes),
        Provider::Oidc => true,
    };
    if suffices { Ok(()) } else { Err(ProviderError::Lapsed("insufficient_scope".to_owned())) }
}

/// Whether a text can be a token (RFC 6749 appendices A.12 and A.17), and fits into a header.
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| matches!(byte, 0x20..=0x7e))
}

/// Checks the answer of a revocation endpoint. An unknown token is not an error: the user may have revoked the consent
/// at the provider (RFC 7009 section 2.2; Google then answers `invalid_token`).
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

    fn complete() -> Value {
        json!({
            "access_token": "ya29.a", "token_type": "Bearer", "expires_in": 3599, "refresh_token": "1//r",
            "scope": "https://www.googleapis.com/auth/calendar.freebusy", "refresh_token_expires_in": 604799
        })
    }

    /// The complete answer with these fields replaced. Null removes a field.
    fn but(fields: &Value) -> Vec<u8> {
        let mut answer = complete();
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
            publishing: false,
        }
    }

    fn old(publishing: bool) -> Tokens {
        Tokens { publishing, ..tokens(0, "old") }
    }

    #[rstest]
    #[case::everything(
        Provider::Google,
        r#"{"scope":"https://www.googleapis.com/auth/calendar.calendarlist.readonly openid https://www.googleapis.com/auth/calendar.freebusy"}"#,
        true
    )]
    #[case::a_part(
        Provider::Google,
        r#"{"scope":"https://www.googleapis.com/auth/calendar.calendarlist.readonly"}"#,
        false
    )]
    #[case::nothing(Provider::Google, r#"{"scope":""}"#, false)]
    #[case::unstated(Provider::Google, "{}", true)]
    #[case::microsoft(Provider::Microsoft, r#"{"scope":"Calendars.ReadBasic"}"#, true)]
    #[case::microsoft_read(
        Provider::Microsoft,
        r#"{"scope":"openid https://graph.microsoft.com/Calendars.Read"}"#,
        true
    )]
    #[case::microsoft_write(
        Provider::Microsoft,
        r#"{"scope":"HTTPS://GRAPH.microsoft.com/calendars.readwrite"}"#,
        true
    )]
    #[case::microsoft_unstated(Provider::Microsoft, "{}", true)]
    #[case::microsoft_nothing(Provider::Microsoft, r#"{"scope":"openid profile"}"#, false)]
    #[case::microsoft_shared_only(Provider::Microsoft, r#"{"scope":"Calendars.Read.Shared"}"#, false)]
    #[case::another_resource(Provider::Microsoft, r#"{"scope":"https://outlook.office.com/Calendars.Read"}"#, false)]
    fn a_consent_covers_every_requested_scope(#[case] provider: Provider, #[case] body: &str, #[case] enough: bool) {
        assert_eq!(suffices(provider, body.as_bytes()).is_ok(), enough);
    }

    #[rstest]
    #[case::complete(json!({}), None, tokens(3_599, "1//r"))]
    #[case::rotated(json!({}), Some("old"), tokens(3_599, "1//r"))]
    #[case::kept(json!({ "refresh_token": null }), Some("old"), tokens(3_599, "old"))]
    #[case::empty(json!({ "refresh_token": "" }), Some("old"), tokens(3_599, "old"))]
    #[case::no_lifetime(json!({ "expires_in": null }), None, tokens(3_600, "1//r"))]
    #[case::lifetime_as_text(json!({ "expires_in": "1800" }), None, tokens(1_800, "1//r"))]
    #[case::zero_lifetime(json!({ "expires_in": 0 }), None, tokens(60, "1//r"))]
    #[case::negative_lifetime(json!({ "expires_in": -5 }), None, tokens(60, "1//r"))]
    #[case::huge_lifetime(json!({ "expires_in": i64::MAX }), None, tokens(86_400, "1//r"))]
    #[case::type_in_lower_case(json!({ "token_type": "bearer" }), None, tokens(3_599, "1//r"))]
    #[case::no_type(json!({ "token_type": null }), None, tokens(3_599, "1//r"))]
    fn tokens_are_read(#[case] fields: Value, #[case] known: Option<&str>, #[case] expected: Tokens) {
        let known = known.map(|refresh| tokens(0, refresh));
        assert_eq!(granted(200, &but(&fields), known.as_ref(), NOW).unwrap(), expected);
    }

    #[rstest]
    #[case::granted(json!("Calendars.ReadWrite offline_access"), false, true)]
    #[case::with_the_resource(json!("openid https://graph.microsoft.com/Calendars.ReadWrite"), false, true)]
    #[case::in_another_case(json!("CALENDARS.READWRITE"), false, true)]
    #[case::taken_back(json!("https://graph.microsoft.com/Calendars.ReadBasic"), true, false)]
    #[case::of_others_only(json!("Calendars.ReadWrite.Shared"), true, false)]
    #[case::nothing(json!(""), true, false)]
    #[case::as_before(Value::Null, true, true)]
    #[case::as_before(Value::Null, false, false)]
    #[case::google(json!("https://www.googleapis.com/auth/calendar.freebusy"), false, false)]
    fn the_granted_scopes_allow_publishing(#[case] scope: Value, #[case] before: bool, #[case] publishing: bool) {
        let granted = granted(200, &but(&json!({ "scope": scope })), Some(&old(before)), NOW).unwrap();
        assert_eq!(granted.publishing, publishing);
    }

    #[rstest]
    #[case::no_refresh_token(json!({ "refresh_token": null }), "the answer has no valid refresh token")]
    #[case::no_access_token(json!({ "access_token": "" }), "the answer has no valid access token")]
    #[case::two_lines(json!({ "access_token": "a\r\nb" }), "the answer has no valid access token")]
    #[case::not_ascii(json!({ "refresh_token": "é" }), "the answer has no valid refresh token")]
    #[case::another_type(json!({ "token_type": "mac" }), "the token in the answer is not a bearer token")]
    #[case::no_number(json!({ "expires_in": "soon" }), "the answer has no valid token lifetime")]
    fn invalid_values_are_refused(#[case] fields: Value, #[case] expected: &str) {
        let Err(ProviderError::Malformed(error)) = granted(200, &but(&fields), None, NOW) else { panic!("malformed") };
        assert_eq!(error.to_string(), expected);
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
    fn malformed_answers_are_refused(#[case] body: &[u8]) {
        let read = granted(200, body, Some(&old(false)), NOW);
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
    #[case::invalid_client(401, "invalid_client", None)]
    #[case::unauthorized_client(400, "unauthorized_client", None)]
    #[case::deleted_client(401, "deleted_client", None)]
    #[case::invalid_request(400, "invalid_request", None)]
    #[case::invalid_scope(400, "invalid_scope", None)]
    #[case::unavailable(400, "temporarily_unavailable", None)]
    #[case::too_many_requests(429, "invalid_grant", None)]
    #[case::server_error(500, "invalid_grant", None)]
    #[case::redirect(302, "invalid_grant", None)]
    fn only_errors_for_the_user_are_lapses(#[case] status: u16, #[case] error: &str, #[case] lapsed: Option<&str>) {
        let body = json!({ "error": error, "error_description": "of ada@example.com", "error_codes": [70000] });
        match (granted(status, body.to_string().as_bytes(), Some(&old(false)), NOW), lapsed) {
            (Err(ProviderError::Lapsed(code)), Some(expected)) => assert_eq!(code, expected),
            (Err(ProviderError::Unavailable(unavailable)), None) => {
                assert_eq!(unavailable.to_string(), format!("it answers with status {status} ({error})"));
            }
            (other, _) => panic!("{other:?}"),
        }
    }

    #[rstest]
    #[case(400, b"<html>ada@example.com".as_slice())]
    #[case(401, br#"{"error":{"code":7,"message":"ada@example.com"}}"#)]
    #[case(503, b"")]
    fn malformed_errors_are_tolerated(#[case] status: u16, #[case] body: &[u8]) {
        let Err(ProviderError::Unavailable(error)) = granted(status, body, None, NOW) else { panic!("unavailable") };
        assert_eq!(error.to_string(), format!("it answers with status {status}"));
    }

    #[rstest]
    #[case(200, "", true)]
    #[case(200, "{}", true)]
    #[case::already_revoked(400, r#"{"error":"invalid_token","error_description":"Token expired or revoked"}"#, true)]
    #[case(400, r#"{"error":"invalid_request"}"#, false)]
    #[case(400, "x", false)]
    #[case(429, r#"{"error":"invalid_token"}"#, false)]
    #[case(503, "", false)]
    fn revocation_answers_are_interpreted(#[case] status: u16, #[case] body: &str, #[case] gone: bool) {
        match revoked(status, body.as_bytes()) {
            Ok(()) => assert!(gone),
            Err(ProviderError::Unavailable(_)) => assert!(!gone),
            Err(error) => panic!("{error:?}"),
        }
    }
}
