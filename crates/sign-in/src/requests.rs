//! The requests to a provider.

use std::time::Duration;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use kalends_accounts::oauth::{Client, TokenRequest};
use kalends_app::ports::ExchangeError;
use kalends_egress::{Exchange, HeaderValue, Method, header};
use kalends_remote::RemoteUrl;
use secrecy::{ExposeSecret as _, SecretString};
use url::form_urlencoded;

use crate::discovery::Authentication;

/// How long a provider may take to answer.
const DEADLINE: Duration = Duration::from_secs(10);
/// How long the UserInfo endpoint may take. Together with a discovery and an exchange, a callback still ends before the
/// request that it is part of (30 s).
const USERINFO_DEADLINE: Duration = Duration::from_secs(5);
/// The maximum length of a provider's answer, in bytes.
const ANSWER_MAX: usize = 64 << 10;

/// A provider's endpoints, and the OAuth client of this service there.
pub(crate) struct Registration {
    pub(crate) client: Client,
    pub(crate) client_secret: SecretString,
    pub(crate) authentication: Authentication,
    pub(crate) token_endpoint: RemoteUrl,
    pub(crate) userinfo_endpoint: Option<RemoteUrl>,
}

/// The request for a discovery document (OpenID Connect Discovery 1.0, section 4.1).
pub(crate) fn discovery(address: RemoteUrl) -> Exchange {
    let mut exchange = Exchange::new(Method::GET, address, DEADLINE, ANSWER_MAX);
    exchange.headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
    exchange
}

/// The request for an identity token.
///
/// # Errors
/// Never in practice: everything in the header is encoded.
pub(crate) fn token(registration: &Registration, request: &TokenRequest) -> Result<Exchange, ExchangeError> {
    let mut exchange = Exchange::new(Method::POST, registration.token_endpoint.clone(), DEADLINE, ANSWER_MAX);
    let form_type = HeaderValue::from_static("application/x-www-form-urlencoded");
    exchange.headers.insert(header::CONTENT_TYPE, form_type);
    exchange.headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
    if registration.authentication == Authentication::Basic {
        let credentials = basic(&registration.client.client_id, &registration.client_secret);
        exchange.headers.insert(header::AUTHORIZATION, secret_header(&credentials)?);
    }
    exchange.body = form(registration, request).into();
    Ok(exchange)
}

/// The request for the claims about the user of an access token (OpenID Connect Core section 5.3.1).
///
/// # Errors
/// [`ExchangeError::Malformed`] if the token does not fit into a header.
pub(crate) fn userinfo(endpoint: RemoteUrl, access_token: &SecretString) -> Result<Exchange, ExchangeError> {
    let mut exchange = Exchange::new(Method::GET, endpoint, USERINFO_DEADLINE, ANSWER_MAX);
    let bearer = format!("Bearer {}", access_token.expose_secret());
    exchange.headers.insert(header::AUTHORIZATION, secret_header(&bearer)?);
    exchange.headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
    Ok(exchange)
}

fn secret_header(text: &str) -> Result<HeaderValue, ExchangeError> {
    let mut value = HeaderValue::from_str(text).map_err(|error| ExchangeError::Malformed(Box::new(error)))?;
    value.set_sensitive(true);
    Ok(value)
}

/// The client's credentials in the header (RFC 6749 section 2.3.1): both parts are encoded as in a form first.
fn basic(client_id: &str, client_secret: &SecretString) -> String {
    let part = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let pair = format!("{}:{}", part(client_id), part(client_secret.expose_secret()));
    format!("Basic {}", BASE64_STANDARD.encode(pair))
}

/// The token request's form (RFC 6749 section 4.1.3, with PKCE). A client must not show its credentials in two ways
/// (section 2.3).
fn form(registration: &Registration, request: &TokenRequest) -> String {
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.append_pair("grant_type", "authorization_code")
        .append_pair("code", &request.code)
        .append_pair("redirect_uri", &request.redirect_uri)
        .append_pair("code_verifier", &request.code_verifier);
    if registration.authentication == Authentication::Post {
        form.append_pair("client_id", &registration.client.client_id)
            .append_pair("client_secret", registration.client_secret.expose_secret());
    }
    form.finish()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use kalends_accounts::oauth::Provider;
    use url::Url;

    use super::*;

    fn registration(authentication: Authentication) -> Registration {
        let at =
            |path: &str| RemoteUrl::parse("url", &format!("https://provider.example{path}"), |_, _| false).unwrap();
        Registration {
            client: Client {
                provider: Provider::Google,
                authorization_endpoint: Url::parse("https://provider.example/authorize").unwrap(),
                issuer: "https://provider.example".into(),
                client_id: "kalends&co".into(),
                redirect_uri: "https://calendar.example.com/v1/auth/oauth/google/callback".into(),
            },
            client_secret: SecretString::from("s&=cret: é".to_owned()),
            authentication,
            token_endpoint: at("/token"),
            userinfo_endpoint: Some(at("/userinfo")),
        }
    }

    /// The form of a token request, and its `Authorization` header.
    fn sent(authentication: Authentication) -> (HashMap<String, String>, Option<HeaderValue>) {
        let registration = registration(authentication);
        let request = TokenRequest {
            code: "4/0+a b".into(),
            code_verifier: "verifier".into(),
            redirect_uri: registration.client.redirect_uri.clone(),
        };
        let exchange = token(&registration, &request).unwrap();
        assert_eq!((exchange.method, exchange.url.as_str()), (Method::POST, "https://provider.example/token"));
        let pairs: Vec<_> = form_urlencoded::parse(&exchange.body).into_owned().collect();
        let form: HashMap<_, _> = pairs.iter().cloned().collect();
        assert_eq!(form.len(), pairs.len(), "no parameter is repeated");
        for (name, value) in [
            ("grant_type", "authorization_code"),
            ("code", "4/0+a b"),
            ("redirect_uri", "https://calendar.example.com/v1/auth/oauth/google/callback"),
            ("code_verifier", "verifier"),
        ] {
            assert_eq!(form.get(name).map(String::as_str), Some(value), "{name}");
        }
        (form, exchange.headers.get(header::AUTHORIZATION).cloned())
    }

    #[test]
    fn the_form_shows_the_credentials() {
        let (form, header) = sent(Authentication::Post);
        assert_eq!((form["client_id"].as_str(), form["client_secret"].as_str()), ("kalends&co", "s&=cret: é"));
        assert_eq!((form.len(), header), (6, None));
    }

    #[test]
    fn the_header_shows_the_credentials_instead() {
        let (form, header) = sent(Authentication::Basic);
        assert_eq!(form.len(), 4, "{form:?}");
        let header = header.unwrap();
        assert!(header.is_sensitive());
        let encoded = header.to_str().unwrap().strip_prefix("Basic ").unwrap();
        let pair = String::from_utf8(BASE64_STANDARD.decode(encoded).unwrap()).unwrap();
        assert_eq!(pair, "kalends%26co:s%26%3Dcret%3A+%C3%A9");
    }

    #[test]
    fn the_token_for_userinfo_is_in_the_header() {
        let endpoint = registration(Authentication::Post).userinfo_endpoint.unwrap();
        let exchange = userinfo(endpoint.clone(), &SecretString::from("at.1".to_owned())).unwrap();
        assert_eq!((exchange.method, exchange.url.as_str()), (Method::GET, "https://provider.example/userinfo"));
        let bearer = &exchange.headers[header::AUTHORIZATION];
        assert!(bearer == "Bearer at.1" && bearer.is_sensitive());
        let two_lines = userinfo(endpoint, &SecretString::from("a\r\nX-Evil: b".to_owned()));
        assert!(matches!(two_lines, Err(ExchangeError::Malformed(_))));
    }

    #[test]
    fn every_answer_is_bounded() {
        let registration = registration(Authentication::Post);
        let request = TokenRequest { code: "c".into(), code_verifier: "v".into(), redirect_uri: "r".into() };
        let endpoint = registration.userinfo_endpoint.clone().unwrap();
        for exchange in [
            discovery(endpoint.clone()),
            token(&registration, &request).unwrap(),
            userinfo(endpoint, &SecretString::from("t".to_owned())).unwrap(),
        ] {
            assert!(exchange.max_body == 64 << 10 && exchange.deadline <= Duration::from_secs(10), "{exchange:?}");
            assert_eq!(exchange.redirects, 0);
        }
    }
}
