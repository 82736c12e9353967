//! Session tokens: JWTs signed with HS256.

use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use kalends_accounts::SessionClaims;
use kalends_app::ports::{CredentialsError, SessionTokens};

/// The minimum length of the signing key, in bytes.
pub const SESSION_KEY_MIN: usize = 32;
/// The longest token that is parsed. Our own are less than a third as long.
const TOKEN_MAX: usize = 1024;

/// The signing key is shorter than [`SESSION_KEY_MIN`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the key that signs sessions must be at least {SESSION_KEY_MIN} bytes long")]
struct ShortKey;

/// Signs and verifies tokens with one key.
pub struct JwtTokens {
    signs: EncodingKey,
    knows: DecodingKey,
    validation: Validation,
}

impl JwtTokens {
    /// Signs and verifies tokens with `key`, which must be the same on all nodes.
    ///
    /// # Errors
    /// [`CredentialsError::Failed`] for a key of fewer than [`SESSION_KEY_MIN`] bytes.
    pub fn new(key: &[u8]) -> Result<Self, CredentialsError> {
        if key.len() < SESSION_KEY_MIN {
            return Err(CredentialsError::failed(ShortKey));
        }
        let mut validation = Validation::new(Algorithm::HS256);
        // `SessionClaims::check` validates the claims with our own clock.
        validation.validate_exp = false;
        validation.required_spec_claims.clear();
        Ok(Self { signs: EncodingKey::from_secret(key), knows: DecodingKey::from_secret(key), validation })
    }
}

impl SessionTokens for JwtTokens {
    fn sign(&self, claims: &SessionClaims) -> Result<String, CredentialsError> {
        encode(&Header::new(Algorithm::HS256), claims, &self.signs).map_err(CredentialsError::failed)
    }

    fn read(&self, token: &str) -> Option<SessionClaims> {
        if token.len() > TOKEN_MAX {
            return None;
        }
        decode(token, &self.knows, &self.validation).ok().map(|read| read.claims)
    }
}

#[cfg(test)]
mod tests {
    use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
    use serde_json::{Value, json};

    use super::*;

    const KEY: [u8; 32] = [7; 32];

    fn claims() -> SessionClaims {
        SessionClaims { iss: "kalends".into(), sub: "usr_1".into(), jti: "ses_1".into(), iat: 1, exp: 2 }
    }

    fn part(value: &Value) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(value.to_string())
    }

    #[test]
    fn a_signed_token_is_read_even_after_its_expiry() {
        let tokens = JwtTokens::new(&KEY).unwrap();
        let token = tokens.sign(&claims()).unwrap();
        assert_eq!(tokens.read(&token), Some(claims()));
        assert!(token.len() < TOKEN_MAX / 3, "{}", token.len());
        assert_eq!(JwtTokens::new(&[8; 32]).unwrap().read(&token), None, "another key");
        assert!(JwtTokens::new(&KEY[1..]).is_err());
    }

    #[test]
    fn forged_tokens_are_refused() {
        let tokens = JwtTokens::new(&KEY).unwrap();
        let token = tokens.sign(&claims()).unwrap();
        let [head, body, signature] = token.split('.').collect::<Vec<_>>()[..] else { panic!("{token}") };
        let other = part(&json!({ "iss": "kalends", "sub": "usr_2", "jti": "ses_1", "iat": 1, "exp": 2 }));
        let none = part(&json!({ "alg": "none", "typ": "JWT" }));
        let forged = [
            format!("{head}.{other}.{signature}"),
            format!("{none}.{body}."),
            format!("{none}.{body}.{signature}"),
            format!("{}.{body}.{signature}", part(&json!({ "alg": "HS512", "typ": "JWT" }))),
            format!("{}.{body}.{signature}", part(&json!({ "alg": "RS256", "typ": "JWT" }))),
            format!("{head}.{body}"),
            format!("{head}.{body}.{signature}."),
            format!("{head}.{body}.{signature}x"),
            format!(" {token}"),
            token.to_uppercase(),
            String::new(),
            ".".repeat(2),
            "svc_sk_0123456789".to_owned(),
            "x".repeat(1 << 20),
        ];
        for forged in forged {
            assert_eq!(tokens.read(&forged), None, "{}", &forged[..forged.len().min(100)]);
        }
        let odd = encode(&Header::new(Algorithm::HS256), &json!({ "sub": "usr_1" }), &tokens.signs).unwrap();
        assert_eq!(tokens.read(&odd), None, "claims that are not ours");
    }
}
