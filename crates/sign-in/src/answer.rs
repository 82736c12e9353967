//! The answers of a token endpoint (RFC 6749 sections 5.1 and 5.2; OpenID Connect Core section 3.1.3.3).

use kalends_accounts::oauth::{IdentityClaims, Provider};
use kalends_app::ports::ExchangeError;
use kalends_kernel::from_base64url;
use secrecy::SecretString;
use serde::Deserialize;

/// The most characters of a provider's own error that are logged.
const ERROR_MAX: usize = 64;

/// The domains of Google's own mailboxes.
const GOOGLE_S_OWN: [&str; 2] = ["gmail.com", "googlemail.com"];

/// Why an answer is malformed.
#[derive(Debug, thiserror::Error)]
enum Malformed {
    #[error("the answer is not a JSON object with an id_token")]
    Answer(#[source] serde_json::Error),
    #[error("the id_token does not have the three parts of a JWT")]
    Parts,
    #[error("the claims of the id_token are not base64url")]
    Encoding,
    #[error("the claims of the id_token are invalid")]
    Claims(#[source] serde_json::Error),
}

/// A successful answer.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The claims of the identity token.
    pub(crate) claims: IdentityClaims,
    /// The access token, if it is a bearer token.
    pub(crate) access_token: Option<SecretString>,
}

#[derive(Deserialize)]
struct Success {
    id_token: String,
    access_token: Option<String>,
    token_type: Option<String>,
}

#[derive(Deserialize)]
struct Failure {
    error: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Several(Vec<String>),
}

/// A flag. Providers write `true` in several ways.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum Flag {
    Bool(bool),
    Number(i64),
    Text(String),
}

impl Flag {
    fn is_set(&self) -> bool {
        match self {
            Self::Bool(set) => *set,
            Self::Number(number) => *number == 1,
            Self::Text(text) => text == "true" || text == "1",
        }
    }

    /// Whether it is `true`, or that word: some providers write Booleans as text.
    pub(crate) fn is_true(&self) -> bool {
        match self {
            Self::Bool(set) => *set,
            Self::Number(_) => false,
            Self::Text(text) => text == "true",
        }
    }
}

#[derive(Deserialize)]
struct Claims {
    iss: String,
    aud: Audience,
    azp: Option<String>,
    sub: String,
    exp: i64,
    iat: i64,
    nonce: Option<String>,
    email: Option<String>,
    email_verified: Option<Flag>,
    xms_edov: Option<Flag>,
    hd: Option<String>,
    name: Option<String>,
}

/// Reads the identity from the answer of `provider`.
///
/// # Errors
/// [`ExchangeError::Refused`] for a protocol error, [`ExchangeError::Malformed`] for a malformed success, and
/// [`ExchangeError::Unavailable`] for any other failure.
pub(crate) fn read(provider: Provider, status: u16, body: &[u8]) -> Result<Answer, ExchangeError> {
    if status != 200 {
        return Err(match serde_json::from_slice::<Failure>(body) {
            Ok(Failure { error }) if (400..500).contains(&status) => {
                let plain = |letter: &char| letter.is_ascii_graphic();
                ExchangeError::Refused(error.chars().filter(plain).take(ERROR_MAX).collect())
            }
            _ => ExchangeError::Unavailable(format!("it answered with status {status}").into()),
        });
    }
    success(provider, body).map_err(|malformed| ExchangeError::Malformed(Box::new(malformed)))
}

fn success(provider: Provider, body: &[u8]) -> Result<Answer, Malformed> {
    let Success { id_token, access_token, token_type } = serde_json::from_slice(body).map_err(Malformed::Answer)?;
    // Tokens of other types are used differently (RFC 6749 section 7.1).
    let is_bearer = token_type.is_some_and(|kind| kind.eq_ignore_ascii_case("bearer"));
    let access_token = access_token.filter(|_| is_bearer).map(SecretString::from);
    Ok(Answer { claims: claims(provider, &id_token)?, access_token })
}

fn claims(provider: Provider, id_token: &str) -> Result<IdentityClaims, Malformed> {
    let mut parts = id_token.split('.');
    let (Some(_), Some(claims), Some(_), None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
        return Err(Malformed::Parts);
    };
    let claims = from_base64url(claims).ok_or(Malformed::Encoding)?;
    let claims: Claims = serde_json::from_slice(&claims).map_err(Malformed::Claims)?;
    let set = |flag: &Option<Flag>| flag.as_ref().is_some_and(Flag::is_set);
    let vouched = match provider {
        // Google is authoritative for its own mailboxes and for those of the organizations that it hosts (`hd`). For
        // any other address it only knows that its user once had access to it.
        Provider::Google => {
            let domain =
                claims.email.as_deref().and_then(|email| email.rsplit_once('@')).map_or("", |(_, domain)| domain);
            let own = GOOGLE_S_OWN.iter().any(|own| domain.eq_ignore_ascii_case(own));
            set(&claims.email_verified) && (own || claims.hd.as_deref().is_some_and(|hosted| !hosted.is_empty()))
        }
        // A Microsoft tenant can set `email` to anything. Only `xms_edov` says that the tenant owns the domain.
        Provider::Microsoft => set(&claims.xms_edov),
        // The operator chose the provider, and so trusts what it says about its users.
        Provider::Oidc => claims.email_verified.as_ref().is_some_and(Flag::is_true),
    };
    Ok(IdentityClaims {
        issuer: claims.iss,
        audience: match claims.aud {
            Audience::One(audience) => vec![audience],
            Audience::Several(audience) => audience,
        },
        authorized_party: claims.azp,
        subject: claims.sub,
        expires: claims.exp,
        issued: claims.iat,
        nonce: claims.nonce,
        email: claims.email,
        email_verified: vouched,
        name: claims.name,
    })
}

#[cfg(test)]
mod tests {
    use kalends_kernel::base64url;
    use rstest::rstest;
    use secrecy::ExposeSecret as _;
    use serde_json::{Value, json};

    use super::*;

    fn token(claims: &Value) -> String {
        format!("{}.{}.c2ln", base64url(br#"{"alg":"RS256"}"#), base64url(claims.to_string().as_bytes()))
    }

    fn answer(claims: &Value) -> Vec<u8> {
        json!({ "access_token": "x", "token_type": "Bearer", "id_token": token(claims) }).to_string().into_bytes()
    }

    fn google() -> Value {
        json!({
            "iss": "https://accounts.google.com", "aud": "kalends", "azp": "kalends", "sub": "1076", "exp": 2, "iat": 1,
            "nonce": "n", "email": "ada@example.com", "email_verified": true, "hd": "example.com", "name": "Ada",
            "at_hash": "x"
        })
    }

    #[test]
    fn an_identity_token_is_read() {
        let read = read(Provider::Google, 200, &answer(&google())).unwrap();
        assert_eq!(
            read.claims,
            IdentityClaims {
                issuer: "https://accounts.google.com".into(),
                audience: vec!["kalends".into()],
                authorized_party: Some("kalends".into()),
                subject: "1076".into(),
                expires: 2,
                issued: 1,
                nonce: Some("n".into()),
                email: Some("ada@example.com".into()),
                email_verified: true,
                name: Some("Ada".into()),
            }
        );
    }

    #[rstest]
    #[case::google(Provider::Google, json!({ "email_verified": true }), true)]
    #[case::google_as_text(Provider::Google, json!({ "email_verified": "true" }), true)]
    #[case::google_unverified(Provider::Google, json!({ "email_verified": false }), false)]
    #[case::google_mailbox(Provider::Google, json!({ "email_verified": true, "hd": null, "email": "ada@GMail.com" }), true)]
    #[case::google_with_foreign_address(Provider::Google, json!({ "email_verified": true, "hd": null }), false)]
    #[case::google_with_empty_hosted_domain(Provider::Google, json!({ "email_verified": true, "hd": "" }), false)]
    #[case::google_with_lookalike_domain(
        Provider::Google,
        json!({ "email_verified": true, "hd": null, "email": "ada@gmail.com.example" }),
        false
    )]
    #[case::google_without_the_claim(Provider::Google, json!({}), false)]
    #[case::google_with_the_claim_of_microsoft(Provider::Google, json!({ "xms_edov": true }), false)]
    #[case::microsoft(Provider::Microsoft, json!({ "xms_edov": true }), true)]
    #[case::microsoft_as_text(Provider::Microsoft, json!({ "xms_edov": "1" }), true)]
    #[case::microsoft_as_number(Provider::Microsoft, json!({ "xms_edov": 1 }), true)]
    #[case::microsoft_unverified(Provider::Microsoft, json!({ "xms_edov": "0" }), false)]
    #[case::microsoft_with_the_claim_of_google(Provider::Microsoft, json!({ "email_verified": true }), false)]
    #[case::own(Provider::Oidc, json!({ "email_verified": true, "hd": null }), true)]
    #[case::own_as_text(Provider::Oidc, json!({ "email_verified": "true", "hd": null }), true)]
    #[case::own_unverified(Provider::Oidc, json!({ "email_verified": false }), false)]
    #[case::own_unverified_as_text(Provider::Oidc, json!({ "email_verified": "false" }), false)]
    #[case::own_as_number(Provider::Oidc, json!({ "email_verified": 1 }), false)]
    #[case::own_without_the_claim(Provider::Oidc, json!({ "xms_edov": true }), false)]
    fn only_an_authoritative_provider_verifies_an_address(
        #[case] provider: Provider,
        #[case] changed: Value,
        #[case] vouched: bool,
    ) {
        let mut claims = google();
        claims.as_object_mut().unwrap().remove("email_verified");
        claims.as_object_mut().unwrap().extend(changed.as_object().unwrap().clone());
        assert_eq!(read(provider, 200, &answer(&claims)).unwrap().claims.email_verified, vouched);
    }

    #[test]
    fn a_token_may_have_several_audiences() {
        let mut claims = google();
        claims["aud"] = json!(["a", "b"]);
        assert_eq!(read(Provider::Google, 200, &answer(&claims)).unwrap().claims.audience, ["a", "b"]);
    }

    #[rstest]
    #[case::bearer(json!({ "access_token": "x", "token_type": "bearer" }), Some("x"))]
    #[case::no_token(json!({ "token_type": "Bearer" }), None)]
    #[case::another_type(json!({ "access_token": "x", "token_type": "DPoP" }), None)]
    #[case::no_type(json!({ "access_token": "x" }), None)]
    fn only_a_bearer_token_is_kept(#[case] fields: Value, #[case] expected: Option<&str>) {
        let mut answer = fields;
        answer["id_token"] = json!(token(&google()));
        let read = read(Provider::Oidc, 200, answer.to_string().as_bytes()).unwrap();
        assert_eq!(read.access_token.as_ref().map(|token| token.expose_secret()), expected);
        assert!(!format!("{read:?}").contains(r#""x""#), "debug output has no token");
    }

    #[rstest]
    #[case::not_json(b"<html>".as_slice())]
    #[case::no_token(br#"{"access_token":"x"}"#)]
    #[case::two_parts(br#"{"id_token":"a.b"}"#)]
    #[case::four_parts(br#"{"id_token":"a.e30.c.d"}"#)]
    #[case::not_base64(br#"{"id_token":"a.%%.c"}"#)]
    #[case::no_claims(br#"{"id_token":"a.e30.c"}"#)]
    #[case::an_error(br#"{"error":"invalid_grant"}"#)]
    fn malformed_answers_are_refused(#[case] body: &[u8]) {
        let read = read(Provider::Google, 200, body);
        assert!(matches!(read, Err(ExchangeError::Malformed(_))), "{read:?}");
    }

    #[test]
    fn refusals_differ_from_failures() {
        let refused = read(Provider::Google, 400, br#"{"error":"invalid_grant\n","error_description":"x"}"#);
        assert!(matches!(refused, Err(ExchangeError::Refused(error)) if error == "invalid_grant"));
        for (status, body) in [(400, "x"), (500, r#"{"error":"x"}"#), (302, "{}"), (429, "{}"), (201, "{}")] {
            let failed = read(Provider::Google, status, body.as_bytes());
            assert!(matches!(failed, Err(ExchangeError::Unavailable(_))), "{status}: {failed:?}");
        }
    }
}
