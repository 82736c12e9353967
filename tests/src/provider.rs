//! A strict stand-in for an identity provider. It rejects every request that the real one might reject.

use std::{
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

use crate::authorization::{
    self, CLIENT_ID, Codes, Parameters, back, complaint, error, is_our_client, is_secret, value,
};

/// How the token endpoint answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answering {
    /// The correct answer.
    Properly,
    /// This status and text, whatever the request is.
    With(u16, String),
}

/// The contents of an identity token.
#[derive(Default)]
struct Identity {
    nonce: String,
    claims: Map<String, Value>,
}

struct Desk {
    issuer: String,
    claims: Map<String, Value>,
    answering: Answering,
    codes: Codes<Identity>,
    exchanged: Vec<String>,
}

/// An identity provider on its own port.
#[derive(Clone)]
pub struct SignInProvider {
    base: String,
    desk: Arc<Mutex<Desk>>,
}

impl SignInProvider {
    /// Starts the stand-in. It ends with the test.
    pub async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let base = format!("http://{}", listener.local_addr().expect("its address"));
        let desk = Desk {
            issuer: base.clone(),
            claims: Map::new(),
            answering: Answering::Properly,
            codes: Codes::default(),
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

    /// The settings that configure it as the provider `name` in a service. They do not allow the service to reach it.
    pub fn variables(&self, name: &str) -> Vec<(String, String)> {
        let mut variables = authorization::variables(name, &self.base);
        // The service must keep a query that the endpoint already has.
        for (key, value) in &mut variables {
            if key.ends_with("_AUTHORIZE_URL") {
                value.push_str("?prompt=select_account");
            }
        }
        variables
    }

    /// Registers an address that it may send a browser back to.
    pub fn register(&self, redirect_uri: &str) {
        self.desk(|desk| desk.codes.register(redirect_uri));
    }

    /// Sets the claims in the identity tokens of new codes. They are added to the usual claims or replace them. A null
    /// leaves a claim out.
    pub fn claims(&self, claims: &Value) {
        let claims = claims.as_object().expect("claims are an object").clone();
        self.desk(|desk| desk.claims = claims);
    }

    /// Sets how it answers from now on.
    pub fn answers(&self, answering: Answering) {
        self.desk(|desk| desk.answering = answering);
    }

    /// The codes that were exchanged successfully.
    pub fn exchanged(&self) -> Vec<String> {
        self.desk(|desk| desk.exchanged.clone())
    }

    /// A code for an attempt that someone else began with a different client.
    pub fn foreign_code(&self, redirect_uri: &str) -> String {
        self.desk(|desk| desk.codes.issue_elsewhere(redirect_uri, Identity::default()))
    }

    /// Follows a browser through the provider. Returns the address that the browser is sent back to, or the provider's
    /// error text.
    ///
    /// # Errors
    /// The provider's error text.
    pub async fn authorize(&self, location: &str) -> Result<String, String> {
        authorization::follow(&self.base, location).await
    }
}

/// The current time in Unix seconds.
#[expect(clippy::disallowed_methods, reason = "not part of the service; a provider has its own clock")]
fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a time after 1970").as_secs()
}

async fn authorize(State(provider): State<SignInProvider>, Query(query): Query<Vec<(String, String)>>) -> Response {
    let given = match provider.desk(|desk| desk.codes.parameters(&query)) {
        Ok(given) => given,
        Err(wrong) => return complaint(&wrong),
    };
    let scopes: Vec<&str> = value(&given, "scope").split(' ').collect();
    if !["openid", "email"].iter().all(|wanted| scopes.contains(wanted)) {
        return complaint("scope");
    }
    if !is_secret(value(&given, "nonce")) {
        return complaint("nonce");
    }
    let code = provider.desk(|desk| {
        let identity = Identity { nonce: value(&given, "nonce").to_owned(), claims: desk.claims.clone() };
        desk.codes.issue(&given, identity)
    });
    // Providers add parameters of their own.
    let parameters = [("code", code.as_str()), ("scope", "openid email"), ("authuser", "0")];
    Redirect::temporary(&back(&given, &parameters)).into_response()
}

async fn token(State(provider): State<SignInProvider>, Form(query): Form<Parameters>) -> Response {
    if let Answering::With(status, text) = provider.desk(|desk| desk.answering.clone()) {
        let status = StatusCode::from_u16(status).expect("a status");
        return (status, text).into_response();
    }
    if !is_our_client(&query) {
        return error(StatusCode::UNAUTHORIZED, "invalid_client");
    }
    if value(&query, "grant_type") != "authorization_code" {
        return error(StatusCode::BAD_REQUEST, "unsupported_grant_type");
    }
    let Some(identity) = provider.desk(|desk| desk.codes.exchange(&query)) else {
        return error(StatusCode::BAD_REQUEST, "invalid_grant");
    };
    let now = now();
    let issuer = provider.desk(|desk| {
        desk.exchanged.push(value(&query, "code").to_owned());
        desk.issuer.clone()
    });
    let mut claims = json!({
        "iss": issuer, "aud": CLIENT_ID, "sub": "10769150350006150715", "iat": now, "exp": now + 3_600,
        "nonce": identity.nonce, "email": "ada@example.com", "email_verified": true, "hd": "example.com",
        "xms_edov": true,
        "name": "Ada Lovelace"
    });
    for (name, value) in identity.claims {
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
