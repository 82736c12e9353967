//! A stand-in for a provider of identities, which checks what is asked of it as strictly as one may.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use axum::{
    Form, Json, Router,
    extract::{Query, State},
    http::StatusCode,
    response::{IntoResponse, Redirect, Response},
    routing::{get, post},
};
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

/// How the token endpoint answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answering {
    /// As it should.
    Properly,
    /// With that status and text, whatever is asked.
    With(u16, String),
}

/// What a code stands for.
#[derive(Clone)]
struct Issued {
    client_id: String,
    redirect_uri: String,
    challenge: String,
    nonce: String,
    claims: Map<String, Value>,
}

struct Desk {
    issuer: String,
    redirect_uris: Vec<String>,
    claims: Map<String, Value>,
    answering: Answering,
    codes: HashMap<String, Issued>,
    exchanged: Vec<String>,
}

/// A provider of identities on a port of its own.
#[derive(Clone)]
pub struct SignInProvider {
    base: String,
    desk: Arc<Mutex<Desk>>,
}

/// Our identifier at the provider.
pub const CLIENT_ID: &str = "kalends-client";
/// Our secret there.
pub const CLIENT_SECRET: &str = "a secret & of ours";

impl SignInProvider {
    /// Starts the stand-in; it ends with the test.
    pub async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let base = format!("http://{}", listener.local_addr().expect("its address"));
        let desk = Desk {
            issuer: base.clone(),
            redirect_uris: Vec::new(),
            claims: Map::new(),
            answering: Answering::Properly,
            codes: HashMap::new(),
            exchanged: Vec::new(),
        };
        let provider = Self { base, desk: Arc::new(Mutex::new(desk)) };
        let router =
            Router::new().route("/authorize", get(authorize)).route("/token", post(token)).with_state(provider.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        provider
    }

    fn desk<T>(&self, act: impl FnOnce(&mut Desk) -> T) -> T {
        act(&mut self.desk.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// `127.0.0.1:PORT`.
    pub fn address(&self) -> &str {
        self.base.trim_start_matches("http://")
    }

    /// The variables that make it the provider of that name in a service, but for what the service may reach.
    pub fn variables(&self, name: &str) -> Vec<(String, String)> {
        let name = name.to_ascii_uppercase();
        let variable = |key: &str, value: String| (format!("KALENDS_OAUTH_{name}_{key}"), value);
        vec![
            variable("CLIENT_ID", CLIENT_ID.to_owned()),
            variable("CLIENT_SECRET", CLIENT_SECRET.to_owned()),
            variable("AUTHORIZE_URL", format!("{}/authorize?prompt=select_account", self.base)),
            variable("TOKEN_URL", format!("{}/token", self.base)),
            variable("ISSUER", self.base.clone()),
        ]
    }

    /// Registers where it may send a browser back.
    pub fn register(&self, redirect_uri: &str) {
        self.desk(|desk| desk.redirect_uris.push(redirect_uri.to_owned()));
    }

    /// Decides what the identity tokens of codes from now on claim, beside or in place of the usual. A null leaves a
    /// claim out.
    pub fn claims(&self, claims: &Value) {
        let claims = claims.as_object().expect("claims are an object").clone();
        self.desk(|desk| desk.claims = claims);
    }

    /// Decides how it answers from now on.
    pub fn answers(&self, answering: Answering) {
        self.desk(|desk| desk.answering = answering);
    }

    /// The codes that were exchanged successfully.
    pub fn exchanged(&self) -> Vec<String> {
        self.desk(|desk| desk.exchanged.clone())
    }

    /// A code for an attempt that somebody else began, at another client of theirs.
    pub fn foreign_code(&self, redirect_uri: &str) -> String {
        self.desk(|desk| {
            let issued = Issued {
                client_id: "another-client".to_owned(),
                redirect_uri: redirect_uri.to_owned(),
                challenge: "x".to_owned(),
                nonce: "x".to_owned(),
                claims: Map::new(),
            };
            desk.issue(issued)
        })
    }

    /// Follows a browser's way through the provider: where it is sent back, or the provider's complaint.
    ///
    /// # Errors
    /// The complaint.
    pub async fn authorize(&self, location: &str) -> Result<String, String> {
        assert!(location.starts_with(&self.base), "not the provider: {location}");
        let http = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build();
        let answer = http.expect("an HTTP client").get(location).send().await.expect("the provider answers");
        let to = answer.headers().get("location").map(|value| value.to_str().expect("an address").to_owned());
        match to {
            Some(to) => Ok(to),
            None => Err(answer.text().await.unwrap_or_default()),
        }
    }
}

impl Desk {
    fn issue(&mut self, issued: Issued) -> String {
        let code = format!("4/0code+{}&", self.codes.len());
        self.codes.insert(code.clone(), issued);
        code
    }
}

/// The present in Unix seconds.
#[expect(clippy::disallowed_methods, reason = "no part of the service; a provider has a clock of its own")]
fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a time after 1970").as_secs()
}

async fn authorize(State(provider): State<SignInProvider>, Query(asked): Query<Vec<(String, String)>>) -> Response {
    let complaint = |what: &str| (StatusCode::BAD_REQUEST, what.to_owned()).into_response();
    let given: HashMap<_, _> = asked.iter().cloned().collect();
    if given.len() != asked.len() {
        return complaint("a parameter comes twice");
    }
    let value = |name: &str| given.get(name).cloned().unwrap_or_default();
    let redirect_uri = value("redirect_uri");
    let registered = provider.desk(|desk| desk.redirect_uris.contains(&redirect_uri));
    let secret = |name: &str| value(name).len() == 43;
    let scopes: Vec<String> = value("scope").split(' ').map(str::to_owned).collect();
    let wrong = if value("response_type") != "code" {
        "response_type"
    } else if value("client_id") != CLIENT_ID {
        "client_id"
    } else if !registered {
        "redirect_uri"
    } else if !scopes.iter().any(|scope| scope == "openid") || !scopes.iter().any(|scope| scope == "email") {
        "scope"
    } else if value("code_challenge_method") != "S256" {
        "code_challenge_method"
    } else {
        ["state", "nonce", "code_challenge"].into_iter().find(|name| !secret(name)).unwrap_or_default()
    };
    if !wrong.is_empty() {
        return complaint(wrong);
    }
    let code = provider.desk(|desk| {
        let issued = Issued {
            client_id: value("client_id"),
            redirect_uri: redirect_uri.clone(),
            challenge: value("code_challenge"),
            nonce: value("nonce"),
            claims: desk.claims.clone(),
        };
        desk.issue(issued)
    });
    let mut back = reqwest::Url::parse(&redirect_uri).expect("a registered address");
    // Providers add what they like.
    back.query_pairs_mut()
        .append_pair("state", &value("state"))
        .append_pair("code", &code)
        .append_pair("scope", "openid email")
        .append_pair("authuser", "0");
    Redirect::temporary(back.as_str()).into_response()
}

async fn token(State(provider): State<SignInProvider>, Form(asked): Form<HashMap<String, String>>) -> Response {
    if let Answering::With(status, text) = provider.desk(|desk| desk.answering.clone()) {
        let status = StatusCode::from_u16(status).expect("a status");
        return (status, text).into_response();
    }
    let error = |status: StatusCode, error: &str| (status, Json(json!({ "error": error }))).into_response();
    let value = |name: &str| asked.get(name).map(String::as_str).unwrap_or_default();
    if value("client_id") != CLIENT_ID || value("client_secret") != CLIENT_SECRET {
        return error(StatusCode::UNAUTHORIZED, "invalid_client");
    }
    if value("grant_type") != "authorization_code" {
        return error(StatusCode::BAD_REQUEST, "unsupported_grant_type");
    }
    // A code is good for one try.
    let issued = provider.desk(|desk| desk.codes.remove(value("code")));
    let issued = issued.filter(|issued| {
        let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(value("code_verifier")));
        issued.client_id == CLIENT_ID && issued.redirect_uri == value("redirect_uri") && issued.challenge == challenge
    });
    let Some(issued) = issued else { return error(StatusCode::BAD_REQUEST, "invalid_grant") };
    let now = now();
    let issuer = provider.desk(|desk| {
        desk.exchanged.push(value("code").to_owned());
        desk.issuer.clone()
    });
    let mut claims = json!({
        "iss": issuer, "aud": CLIENT_ID, "sub": "10769150350006150715", "iat": now, "exp": now + 3_600,
        "nonce": issued.nonce, "email": "ada@example.com", "email_verified": true, "hd": "example.com",
        "xms_edov": true,
        "name": "Ada Lovelace"
    });
    for (name, value) in issued.claims {
        match value {
            Value::Null => drop(claims.as_object_mut().and_then(|claims| claims.remove(&name))),
            value => claims[name] = value,
        }
    }
    let part = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
    let id_token = format!("{}.{}.c2lnbmF0dXJl", part(&json!({ "alg": "RS256", "typ": "JWT" })), part(&claims));
    Json(json!({ "access_token": "x", "token_type": "Bearer", "expires_in": 3_599, "id_token": id_token }))
        .into_response()
}
