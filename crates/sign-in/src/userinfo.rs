//! The answers of a UserInfo endpoint (OpenID Connect Core section 5.3).

use kalends_accounts::oauth::IdentityClaims;
use kalends_app::ports::ExchangeError;
use serde::Deserialize;

use crate::answer::Flag;

/// Why an answer is malformed.
#[derive(Debug, thiserror::Error)]
enum Malformed {
    #[error("the UserInfo answer is a signed token, which is not supported; let the provider answer with JSON")]
    Signed,
    #[error("the UserInfo answer is not a JSON object with a subject")]
    Answer(#[source] serde_json::Error),
    #[error("the UserInfo answer is about another subject than the id_token")]
    Subject,
}

impl From<Malformed> for ExchangeError {
    fn from(malformed: Malformed) -> Self {
        Self::Malformed(Box::new(malformed))
    }
}

/// The claims of section 5.1 that are read.
#[derive(Deserialize)]
struct UserInfo {
    sub: String,
    email: Option<String>,
    email_verified: Option<Flag>,
    name: Option<String>,
}

/// Adds the address and the name of a UserInfo answer to the claims of the identity token. `media_type` is the answer's
/// `Content-Type`.
///
/// # Errors
/// [`ExchangeError::Unavailable`] for any status but 200. [`ExchangeError::Malformed`] for an answer that is not JSON,
/// or is about another subject: it must not be used then (section 5.3.2).
pub(crate) fn added(
    claims: IdentityClaims,
    status: u16,
    media_type: &str,
    body: &[u8],
) -> Result<IdentityClaims, ExchangeError> {
    if status != 200 {
        return Err(ExchangeError::Unavailable(format!("its UserInfo endpoint answered with status {status}").into()));
    }
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/jwt") {
        return Err(Malformed::Signed.into());
    }
    let found: UserInfo = serde_json::from_slice(body).map_err(Malformed::Answer)?;
    if found.sub != claims.subject {
        return Err(Malformed::Subject.into());
    }
    Ok(IdentityClaims {
        email: found.email,
        email_verified: found.email_verified.is_some_and(|flag| flag.is_true()),
        name: found.name.or(claims.name),
        ..claims
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    const JSON: &str = "application/json; charset=utf-8";

    fn claims() -> IdentityClaims {
        IdentityClaims {
            issuer: "https://id.example.com".into(),
            audience: vec!["kalends".into()],
            authorized_party: None,
            subject: "1076".into(),
            expires: 2,
            issued: 1,
            nonce: Some("n".into()),
            email: None,
            email_verified: false,
            name: Some("A. L.".into()),
        }
    }

    #[rstest]
    #[case::everything(
        json!({ "email": "ada@example.com", "email_verified": true, "name": "Ada" }),
        Some("ada@example.com"), true, "Ada"
    )]
    #[case::verified_as_text(
        json!({ "email": "ada@example.com", "email_verified": "true" }), Some("ada@example.com"), true, "A. L."
    )]
    #[case::unverified(
        json!({ "email": "ada@example.com", "email_verified": false }), Some("ada@example.com"), false, "A. L."
    )]
    #[case::unverified_as_text(
        json!({ "email": "ada@example.com", "email_verified": "false" }), Some("ada@example.com"), false, "A. L."
    )]
    #[case::not_said(json!({ "email": "ada@example.com" }), Some("ada@example.com"), false, "A. L.")]
    #[case::no_address(json!({}), None, false, "A. L.")]
    fn the_address_and_the_name_are_added(
        #[case] fields: Value,
        #[case] email: Option<&str>,
        #[case] email_verified: bool,
        #[case] name: &str,
    ) {
        let mut answer = json!({ "sub": "1076", "iss": "https://evil.example", "nonce": "x" });
        answer.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let expected =
            IdentityClaims { email: email.map(str::to_owned), email_verified, name: Some(name.to_owned()), ..claims() };
        assert_eq!(added(claims(), 200, JSON, answer.to_string().as_bytes()).unwrap(), expected);
    }

    #[rstest]
    #[case::another_subject(JSON, r#"{"sub":"1077","email":"eve@example.com"}"#, "another subject")]
    #[case::no_subject(JSON, r#"{"email":"eve@example.com"}"#, "not a JSON object")]
    #[case::not_json(JSON, "<html>", "not a JSON object")]
    #[case::signed("Application/JWT", "e30.e30.c2ln", "signed token")]
    fn malformed_answers_are_refused(#[case] media_type: &str, #[case] body: &str, #[case] why: &str) {
        let Err(ExchangeError::Malformed(error)) = added(claims(), 200, media_type, body.as_bytes()) else {
            panic!("malformed")
        };
        assert!(error.to_string().contains(why), "{error}");
    }

    #[rstest]
    fn other_statuses_are_failures(#[values(201, 302, 401, 500)] status: u16) {
        let failed = added(claims(), status, JSON, br#"{"sub":"1076"}"#);
        assert!(matches!(failed, Err(ExchangeError::Unavailable(_))), "{failed:?}");
    }
}
