//! The parts that the stand-in providers share: authorization endpoints that check their parameters, and codes that
//! work once (RFC 6749 section 4.1, RFC 7636).

use std::collections::HashMap;

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::client::plain_http;

/// Our client ID at the providers.
pub const CLIENT_ID: &str = "kalends-client";
/// Our client secret at the providers.
pub const CLIENT_SECRET: &str = "a secret & of ours";

/// The parameters of a request. Each name occurs once.
pub(crate) type Parameters = HashMap<String, String>;

/// What a code was issued for.
struct Issued<T> {
    client_id: String,
    redirect_uri: String,
    challenge: String,
    grants: T,
}

/// An authorization endpoint: the redirect URIs that it accepts and the codes that it issued.
pub(crate) struct Codes<T> {
    redirect_uris: Vec<String>,
    issued: HashMap<String, Issued<T>>,
    count: usize,
}

impl<T> Default for Codes<T> {
    fn default() -> Self {
        Self { redirect_uris: Vec::new(), issued: HashMap::new(), count: 0 }
    }
}

/// The value of a parameter, or an empty string if it is absent.
pub(crate) fn value<'a>(given: &'a Parameters, name: &str) -> &'a str {
    given.get(name).map(String::as_str).unwrap_or_default()
}

/// Whether a value has the length of 32 encoded bytes. States, nonces and challenges all do.
pub(crate) fn is_secret(value: &str) -> bool {
    value.len() == 43
}

impl<T> Codes<T> {
    /// Registers an address that browsers may be sent back to.
    pub(crate) fn register(&mut self, redirect_uri: &str) {
        self.redirect_uris.push(redirect_uri.to_owned());
    }

    /// Returns the parameters of a request, or the name of the first one that is wrong.
    pub(crate) fn parameters(&self, query: &[(String, String)]) -> Result<Parameters, String> {
        let given: Parameters = query.iter().cloned().collect();
        if given.len() != query.len() {
            return Err("a parameter is repeated".to_owned());
        }
        if let Some((name, _)) = query.iter().find(|(_, value)| value.is_empty()) {
            return Err(format!("{name} is empty"));
        }
        let wrong = if value(&given, "response_type") != "code" {
            "response_type"
        } else if value(&given, "client_id") != CLIENT_ID {
            "client_id"
        } else if !self.redirect_uris.iter().any(|known| known == value(&given, "redirect_uri")) {
            "redirect_uri"
        } else if value(&given, "code_challenge_method") != "S256" {
            "code_challenge_method"
        } else if !is_secret(value(&given, "code_challenge")) {
            "code_challenge"
        // The page to return to may precede the secret.
        } else if !value(&given, "state").rsplit('.').next().is_some_and(is_secret) {
            "state"
        } else {
            return Ok(given);
        };
        Err(wrong.to_owned())
    }

    /// Issues a code for this request.
    pub(crate) fn issue(&mut self, given: &Parameters, grants: T) -> String {
        self.keep(Issued {
            client_id: value(given, "client_id").to_owned(),
            redirect_uri: value(given, "redirect_uri").to_owned(),
            challenge: value(given, "code_challenge").to_owned(),
            grants,
        })
    }

    /// Issues a code for an attempt that someone else began with a different client.
    pub(crate) fn issue_elsewhere(&mut self, redirect_uri: &str, grants: T) -> String {
        self.keep(Issued {
            client_id: "another-client".to_owned(),
            redirect_uri: redirect_uri.to_owned(),
            challenge: "x".to_owned(),
            grants,
        })
    }

    fn keep(&mut self, issued: Issued<T>) -> String {
        let code = format!("4/0code+{}&", self.count);
        self.count += 1;
        self.issued.insert(code.clone(), issued);
        code
    }

    /// Redeems the code of a form and returns its grants if the whole form is correct. A code works once.
    pub(crate) fn exchange(&mut self, form: &Parameters) -> Option<T> {
        let issued = self.issued.remove(value(form, "code"))?;
        let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(value(form, "code_verifier")));
        let right = issued.client_id == CLIENT_ID
            && issued.redirect_uri == value(form, "redirect_uri")
            && issued.challenge == challenge;
        right.then_some(issued.grants)
    }
}

/// The address that a browser is sent back to, with its state and these parameters.
pub(crate) fn back(given: &Parameters, parameters: &[(&str, &str)]) -> String {
    let mut back = reqwest::Url::parse(value(given, "redirect_uri")).expect("a registered address");
    back.query_pairs_mut().append_pair("state", value(given, "state")).extend_pairs(parameters);
    back.into()
}

/// Whether a token request comes from our client.
pub(crate) fn is_our_client(form: &Parameters) -> bool {
    value(form, "client_id") == CLIENT_ID && value(form, "client_secret") == CLIENT_SECRET
}

/// An error from a token endpoint.
pub(crate) fn error(status: StatusCode, error: &str) -> Response {
    (status, Json(json!({ "error": error }))).into_response()
}

/// An error from an authorization endpoint that does not redirect.
pub(crate) fn complaint(what: &str) -> Response {
    (StatusCode::BAD_REQUEST, what.to_owned()).into_response()
}

/// Follows a browser through the provider at `base`. Returns the address that it is sent back to, or the provider's
/// error text.
pub(crate) async fn follow(base: &str, location: &str) -> Result<String, String> {
    assert!(location.starts_with(base), "not the provider: {location}");
    let http = plain_http().redirect(reqwest::redirect::Policy::none()).build();
    let answer = http.expect("an HTTP client").get(location).send().await.expect("the provider answers");
    let to = answer.headers().get("location").map(|value| value.to_str().expect("an address").to_owned());
    match to {
        Some(to) => Ok(to),
        None => Err(answer.text().await.unwrap_or_default()),
    }
}

/// The settings that configure the provider `name` at `base` in a service.
pub(crate) fn variables(name: &str, base: &str) -> Vec<(String, String)> {
    let name = name.to_ascii_uppercase();
    let variable = |key: &str, value: String| (format!("KALENDS_OAUTH_{name}_{key}"), value);
    vec![
        variable("CLIENT_ID", CLIENT_ID.to_owned()),
        variable("CLIENT_SECRET", CLIENT_SECRET.to_owned()),
        variable("AUTHORIZE_URL", format!("{base}/authorize")),
        variable("TOKEN_URL", format!("{base}/token")),
        variable("ISSUER", base.to_owned()),
    ]
}
