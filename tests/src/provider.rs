//! A strict stand-in for an identity provider. It rejects every request that the real one might reject.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use axum::{
    Form, Json, Router,
    extract::{Query, State},
    http::{HeaderMap, StatusCode, header::AUTHORIZATION},
    response::{IntoResponse, Redirect, Response},
    routing::{get, post},
};
use base64::{
    Engine as _,
    prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD},
};
use serde_json::{Map, Value, json};

use crate::authorization::{
    self, CLIENT_ID, CLIENT_SECRET, Codes, Parameters, back, complaint, error, is_our_client, is_secret, value,
};

/// How an endpoint answers.
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
    /// How the discovery document's address answers.
    discovering: Answering,
    discoveries: usize,
    /// Fields of the discovery document that replace the usual ones.
    document: Map<String, Value>,
    /// Whether the token endpoint takes the client's credentials only in a header.
    only_basic: bool,
    /// The subjects of the access tokens.
    subjects: HashMap<String, Value>,
    /// The claims that the UserInfo endpoint adds to the subject.
    user_info: Map<String, Value>,
    user_infos: usize,
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
            discovering: Answering::Properly,
            discoveries: 0,
            document: Map::new(),
            only_basic: false,
            subjects: HashMap::new(),
            user_info: Map::new(),
            user_infos: 0,
        };
        let provider = Self { base, desk: Arc::new(Mutex::new(desk)) };
        let router = Router::new()
            .route("/authorize", get(authorize))
            .route("/token", post(token))
            .route("/.well-known/openid-configuration", get(discovery))
            .route("/userinfo", get(user_info))
            .with_state(provider.clone());
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

    /// The settings that configure it as an OpenID Connect provider with the name `Example Login`. They do not allow the
    /// service to reach it.
    pub fn oidc_variables(&self) -> Vec<(String, String)> {
        let values = [
            ("ISSUER", &*self.base),
            ("CLIENT_ID", CLIENT_ID),
            ("CLIENT_SECRET", CLIENT_SECRET),
            ("NAME", "Example Login"),
        ];
        values.map(|(key, value)| (format!("KALENDS_OIDC_{key}"), value.to_owned())).into()
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

    /// Sets the claims that its UserInfo endpoint returns, in addition to the subject or instead of it.
    pub fn user_info(&self, claims: &Value) {
        let claims = claims.as_object().expect("claims are an object").clone();
        self.desk(|desk| desk.user_info = claims);
    }

    /// How often its UserInfo endpoint was asked.
    pub fn user_infos(&self) -> usize {
        self.desk(|desk| desk.user_infos)
    }

    /// Sets fields of its discovery document. They replace the usual ones. A null leaves a field out.
    pub fn document(&self, fields: &Value) {
        let fields = fields.as_object().expect("a document is an object").clone();
        self.desk(|desk| desk.document = fields);
    }

    /// Sets how the address of its discovery document answers from now on.
    pub fn discovers(&self, discovering: Answering) {
        self.desk(|desk| desk.discovering = discovering);
    }

    /// How often its discovery document was asked for.
    pub fn discoveries(&self) -> usize {
        self.desk(|desk| desk.discoveries)
    }

    /// Takes the client's credentials only in a header from now on. The discovery document says nothing about that,
    /// because it is the default.
    pub fn takes_only_basic(&self) {
        self.desk(|desk| desk.only_basic = true);
    }

    /// Sets how its token endpoint answers from now on.
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

/// An answer with this status and text.
fn other(status: u16, text: String) -> Response {
    (StatusCode::from_u16(status).expect("a status"), text).into_response()
}

/// Sets or, with null, removes fields.
fn replace(target: &mut Value, fields: Map<String, Value>) {
    for (name, value) in fields {
        match value {
            Value::Null => drop(target.as_object_mut().and_then(|target| target.remove(&name))),
            value => target[name] = value,
        }
    }
}

async fn discovery(State(provider): State<SignInProvider>) -> Response {
    let (discovering, only_basic, fields) = provider.desk(|desk| {
        desk.discoveries += 1;
        (desk.discovering.clone(), desk.only_basic, desk.document.clone())
    });
    if let Answering::With(status, text) = discovering {
        return other(status, text);
    }
    let base = &provider.base;
    let mut document = json!({
        "issuer": base, "authorization_endpoint": format!("{base}/authorize"), "token_endpoint": format!("{base}/token"),
        "userinfo_endpoint": format!("{base}/userinfo"), "jwks_uri": format!("{base}/keys"),
        "response_types_supported": ["code"], "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256"],
    });
    if !only_basic {
        document["token_endpoint_auth_methods_supported"] = json!(["client_secret_basic", "client_secret_post"]);
    }
    replace(&mut document, fields);
    Json(document).into_response()
}

async fn user_info(State(provider): State<SignInProvider>, headers: HeaderMap) -> Response {
    let header = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let found = provider.desk(|desk| {
        desk.user_infos += 1;
        let subject = header.strip_prefix("Bearer ").and_then(|token| desk.subjects.get(token)).cloned();
        subject.map(|subject| (subject, desk.user_info.clone()))
    });
    let Some((subject, claims)) = found else { return error(StatusCode::UNAUTHORIZED, "invalid_token") };
    let mut answer = json!({ "sub": subject });
    replace(&mut answer, claims);
    Json(answer).into_response()
}

/// Whether the header has our credentials, encoded as RFC 6749 section 2.3.1 asks, and the form has none.
fn is_basic(headers: &HeaderMap, form: &Parameters) -> bool {
    let secret = CLIENT_SECRET.replace(' ', "+").replace('&', "%26");
    let expected = format!("Basic {}", BASE64_STANDARD.encode(format!("{CLIENT_ID}:{secret}")));
    let is_right = headers.get(AUTHORIZATION).is_some_and(|value| value.as_bytes() == expected.as_bytes());
    is_right && !form.contains_key("client_secret")
}

async fn token(State(provider): State<SignInProvider>, headers: HeaderMap, Form(query): Form<Parameters>) -> Response {
    if let Answering::With(status, text) = provider.desk(|desk| desk.answering.clone()) {
        return other(status, text);
    }
    let only_basic = provider.desk(|desk| desk.only_basic);
    let is_ours = if only_basic { is_basic(&headers, &query) } else { is_our_client(&query) };
    if !is_ours {
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
    replace(&mut claims, identity.claims);
    let access_token = provider.desk(|desk| {
        let token = format!("access-{}", desk.exchanged.len());
        desk.subjects.insert(token.clone(), claims["sub"].clone());
        token
    });
    let part = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
    let id_token = format!("{}.{}.c2lnbmF0dXJl", part(&json!({ "alg": "RS256", "typ": "JWT" })), part(&claims));
    Json(json!({ "access_token": access_token, "token_type": "Bearer", "expires_in": 3_599, "id_token": id_token }))
        .into_response()
}
