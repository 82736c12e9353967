//! A strict stand-in for a calendar provider, Google or Microsoft. It rejects every request that the real one might
//! reject.
//!
//! The visitor who consents is one of its accounts. The test sets the calendars and events of each account. Events
//! have titles, and the stand-in returns them wherever the real one might, and in more places.

mod google;
mod graph;
mod microsoft;
mod publishing;
mod written;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
};

use axum::{
    Form, Json, Router,
    extract::{Query, Request, State},
    http::{HeaderMap, StatusCode},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Redirect, Response},
    routing::{get, post},
};
use chrono::{DateTime, Utc};
use serde_json::json;

pub use self::publishing::TheirCopy;
use self::publishing::Writing;
use crate::authorization::{self, Codes, Parameters, back, complaint, error, is_our_client, value};

/// How an event is shown to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transparency {
    /// As busy time.
    Busy,
    /// As free time, although the event is there.
    Free,
}

/// An event at the provider.
#[derive(Debug, Clone)]
pub struct TheirEvent {
    /// The start, in UTC.
    pub start: DateTime<Utc>,
    /// The end, in UTC.
    pub end: DateTime<Utc>,
    /// The title.
    pub title: String,
    /// How it is shown to others.
    pub transparency: Transparency,
}

#[derive(Debug, Clone)]
struct TheirCalendar {
    id: String,
    name: String,
    events: Vec<TheirEvent>,
}

/// The account and scopes that a token gives access to.
#[derive(Clone)]
struct Consent {
    account: String,
    scopes: BTreeSet<String>,
}

/// The result of exchanging a code.
struct Granted {
    consent: Consent,
    /// Whether a refresh token was asked for.
    lasts: bool,
}

struct Desk {
    codes: Codes<Granted>,
    /// The calendars of each account, the primary one first.
    accounts: BTreeMap<String, Vec<TheirCalendar>>,
    /// The account of the person at the browser, and whether they refuse consent.
    visitor: String,
    declines: bool,
    failing: Option<u16>,
    /// The lifetime of access tokens, in seconds.
    lasts: u32,
    access: BTreeMap<String, Consent>,
    refresh: BTreeMap<String, Consent>,
    /// Every token ever issued.
    tokens: Vec<String>,
    revoked: Vec<String>,
    requests: Vec<String>,
    /// Whether the person at the browser grants only reading.
    only_reading: bool,
    writing: Writing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Google,
    Microsoft,
}

/// A calendar provider on its own port.
#[derive(Clone)]
pub struct CalendarProvider {
    kind: Kind,
    base: String,
    desk: Arc<Mutex<Desk>>,
}

impl CalendarProvider {
    /// Starts a stand-in for Google. It ends with the test.
    pub async fn google() -> Self {
        Self::start(Kind::Google).await
    }

    /// Starts a stand-in for Microsoft. It ends with the test.
    pub async fn microsoft() -> Self {
        Self::start(Kind::Microsoft).await
    }

    async fn start(kind: Kind) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let base = format!("http://{}", listener.local_addr().expect("its address"));
        let desk = Desk {
            codes: Codes::default(),
            accounts: BTreeMap::new(),
            visitor: String::new(),
            declines: false,
            failing: None,
            lasts: 3_599,
            access: BTreeMap::new(),
            refresh: BTreeMap::new(),
            tokens: Vec::new(),
            revoked: Vec::new(),
            requests: Vec::new(),
            only_reading: false,
            writing: Writing::default(),
        };
        let provider = Self { kind, base, desk: Arc::new(Mutex::new(desk)) };
        let api = match kind {
            Kind::Google => google::routes(),
            Kind::Microsoft => microsoft::routes().merge(graph::routes()),
        };
        let router = Router::new()
            .merge(api)
            .route("/token", post(token))
            .layer(from_fn_with_state(provider.clone(), answers))
            .route("/authorize", get(authorize))
            .with_state(provider.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        provider
    }

    fn desk<T>(&self, act: impl FnOnce(&mut Desk) -> T) -> T {
        act(&mut self.desk.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// `google` or `microsoft`.
    pub const fn name(&self) -> &'static str {
        match self.kind {
            Kind::Google => "google",
            Kind::Microsoft => "microsoft",
        }
    }

    /// `127.0.0.1:PORT`.
    pub fn address(&self) -> &str {
        self.base.trim_start_matches("http://")
    }

    /// The settings that make a service connect its calendars. They do not allow the service to reach this address.
    pub fn variables(&self) -> Vec<(String, String)> {
        let mut variables = authorization::variables(self.name(), &self.base);
        let name = self.name().to_ascii_uppercase();
        let mut variable = |key: &str, value: String| variables.push((format!("KALENDS_OAUTH_{name}_{key}"), value));
        variable("CALENDARS", "true".to_owned());
        match self.kind {
            Kind::Google => {
                variable("CALENDAR_URL", format!("{}{}", self.base, google::API));
                variable("REVOKE_URL", format!("{}/revoke", self.base));
            }
            Kind::Microsoft => variable("CALENDAR_URL", format!("{}{}", self.base, microsoft::API)),
        }
        variables
    }

    /// Registers the callback of a service at `base`.
    pub fn register(&self, base: &str) {
        let redirect_uri = format!("{base}/v1/calendar-connections/oauth/{}/callback", self.name());
        self.desk(|desk| desk.codes.register(&redirect_uri));
    }

    /// Creates an account with calendars of these identifiers and names, the primary one first, or replaces its list
    /// of calendars. The account's owner is at the browser from then on.
    pub fn account(&self, account: &str, calendars: &[(&str, &str)]) {
        self.desk(|desk| {
            let mut known = desk.accounts.remove(account).unwrap_or_default();
            let listed = calendars.iter().map(|(id, name)| {
                let events =
                    known.iter_mut().find(|known| known.id == *id).map(|known| std::mem::take(&mut known.events));
                TheirCalendar { id: (*id).to_owned(), name: (*name).to_owned(), events: events.unwrap_or_default() }
            });
            let listed = listed.collect();
            desk.accounts.insert(account.to_owned(), listed);
            account.clone_into(&mut desk.visitor);
        });
    }

    /// Sets the events of a calendar.
    pub fn events(&self, account: &str, calendar: &str, events: &[TheirEvent]) {
        self.desk(|desk| {
            let calendars = desk.accounts.get_mut(account).expect("an account");
            let known = calendars.iter_mut().find(|known| known.id == calendar).expect("a calendar of the account");
            known.events = events.to_vec();
            known.events.sort_by_key(|event| event.start);
        });
    }

    /// Puts the owner of another existing account at the browser.
    pub fn visited_by(&self, account: &str) {
        self.desk(|desk| account.clone_into(&mut desk.visitor));
    }

    /// Sets whether the person at the browser refuses consent.
    pub fn declines(&self, declines: bool) {
        self.desk(|desk| desk.declines = declines);
    }

    /// Sets the status that every endpoint except the consent page answers with. `None` restores the normal answers.
    pub fn fails(&self, status: Option<u16>) {
        self.desk(|desk| desk.failing = status);
    }

    /// Sets the lifetime of access tokens that are issued from now on, in seconds.
    pub fn lasts(&self, seconds: u32) {
        self.desk(|desk| desk.lasts = seconds);
    }

    /// Revokes the consent of an account at the provider.
    pub fn forgets(&self, account: &str) {
        self.desk(|desk| desk.forget(account));
    }

    /// The refresh tokens of an account.
    pub fn refresh_tokens(&self, account: &str) -> Vec<String> {
        let of = |desk: &mut Desk| {
            let of_account = desk.refresh.iter().filter(|(_, consent)| consent.account == account);
            of_account.map(|(token, _)| token.clone()).collect()
        };
        self.desk(of)
    }

    /// Every token that it ever issued.
    pub fn tokens(&self) -> Vec<String> {
        self.desk(|desk| desk.tokens.clone())
    }

    /// The tokens that it was asked to revoke.
    pub fn revoked(&self) -> Vec<String> {
        self.desk(|desk| desk.revoked.clone())
    }

    /// The paths of the requests that it received, except those of the consent page.
    pub fn requests(&self) -> Vec<String> {
        self.desk(|desk| desk.requests.clone())
    }

    /// A code for an attempt that someone else began with a different client.
    pub fn foreign_code(&self, base: &str) -> String {
        let redirect_uri = format!("{base}/v1/calendar-connections/oauth/{}/callback", self.name());
        self.desk(|desk| {
            let consent = Consent { account: desk.visitor.clone(), scopes: self.scopes() };
            desk.codes.issue_elsewhere(&redirect_uri, Granted { consent, lasts: true })
        })
    }

    /// Follows a browser through the provider. Returns the address that the browser is sent back to, or the provider's
    /// error text.
    ///
    /// # Errors
    /// The provider's error text.
    pub async fn authorize(&self, location: &str) -> Result<String, String> {
        authorization::follow(&self.base, location).await
    }

    /// The fewest scopes that allow reading busy times.
    fn scopes(&self) -> BTreeSet<String> {
        let scopes = match self.kind {
            Kind::Google => google::SCOPES,
            Kind::Microsoft => microsoft::SCOPES,
        };
        scopes.iter().map(|scope| (*scope).to_owned()).collect()
    }

    /// The account of a request's token, if its owner consented to the scope.
    fn admitted(&self, headers: &HeaderMap, scope: &str) -> Option<String> {
        let bearer = headers.get("authorization").and_then(|value| value.to_str().ok()).unwrap_or_default();
        let token = bearer.strip_prefix("Bearer ")?;
        let consent = self.desk(|desk| desk.access.get(token).cloned())?;
        consent.scopes.contains(scope).then_some(consent.account)
    }

    fn calendars(&self, account: &str) -> Vec<TheirCalendar> {
        self.desk(|desk| desk.accounts.get(account).cloned().unwrap_or_default())
    }
}

impl Desk {
    fn forget(&mut self, account: &str) {
        self.access.retain(|_, consent| consent.account != account);
        self.refresh.retain(|_, consent| consent.account != account);
    }

    fn token(&mut self, kind: &str) -> String {
        let token = format!("{kind}-token.planted/{}+of~a-provider==", self.tokens.len());
        self.tokens.push(token.clone());
        token
    }

    /// A token response.
    fn grant(&mut self, consent: Consent, with_refresh: bool) -> Response {
        let access = self.token("access");
        self.access.insert(access.clone(), consent.clone());
        let scopes = Vec::from_iter(consent.scopes.iter().map(String::as_str)).join(" ");
        let mut answer =
            json!({ "access_token": access, "token_type": "Bearer", "expires_in": self.lasts, "scope": scopes });
        if with_refresh {
            let refresh = self.token("refresh");
            self.refresh.insert(refresh.clone(), consent);
            answer["refresh_token"] = refresh.into();
        }
        Json(answer).into_response()
    }
}

/// Records the path of each request, and fails the request if the test asked for that.
async fn answers(State(provider): State<CalendarProvider>, request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    let failing = provider.desk(|desk| {
        desk.requests.push(path);
        desk.failing
    });
    match failing {
        Some(status) => (StatusCode::from_u16(status).expect("a status"), "it does not work").into_response(),
        None => next.run(request).await,
    }
}

fn is_exactly(scopes: &BTreeSet<String>, expected: &[&str]) -> bool {
    scopes.iter().map(String::as_str).eq(expected.iter().copied().collect::<BTreeSet<_>>())
}

async fn authorize(State(provider): State<CalendarProvider>, Query(query): Query<Vec<(String, String)>>) -> Response {
    let given = match provider.desk(|desk| desk.codes.parameters(&query)) {
        Ok(given) => given,
        Err(wrong) => return complaint(&wrong),
    };
    let scopes: BTreeSet<String> = value(&given, "scope").split(' ').map(str::to_owned).collect();
    let publishing = provider.kind == Kind::Microsoft && is_exactly(&scopes, microsoft::PUBLISHING_SCOPES);
    if scopes != provider.scopes() && !publishing {
        return complaint("scope");
    }
    let lasts = match provider.kind {
        // Without `prompt=consent`, Google issues a refresh token only on the first consent.
        Kind::Google => value(&given, "access_type") == "offline" && value(&given, "prompt") == "consent",
        Kind::Microsoft => scopes.contains(microsoft::LASTING),
    };
    let code = provider.desk(|desk| {
        let scopes = if publishing && desk.only_reading { provider.scopes() } else { scopes };
        let consent = Consent { account: desk.visitor.clone(), scopes };
        (!desk.declines).then(|| desk.codes.issue(&given, Granted { consent, lasts }))
    });
    // Providers add parameters of their own.
    let to = match &code {
        Some(code) => back(&given, &[("code", code), ("scope", value(&given, "scope")), ("session_state", "x")]),
        None => back(&given, &[("error", "access_denied"), ("error_description", "The user said no.")]),
    };
    Redirect::temporary(&to).into_response()
}

async fn token(State(provider): State<CalendarProvider>, Form(form): Form<Parameters>) -> Response {
    if !is_our_client(&form) {
        return error(StatusCode::UNAUTHORIZED, "invalid_client");
    }
    provider.desk(|desk| match value(&form, "grant_type") {
        "authorization_code" => match desk.codes.exchange(&form) {
            Some(Granted { consent, lasts }) => desk.grant(consent, lasts),
            None => error(StatusCode::BAD_REQUEST, "invalid_grant"),
        },
        "refresh_token" => {
            let known = desk.refresh.get(value(&form, "refresh_token")).cloned();
            let Some(consent) = known else { return error(StatusCode::BAD_REQUEST, "invalid_grant") };
            let rotates = provider.kind == Kind::Microsoft;
            if rotates {
                desk.refresh.remove(value(&form, "refresh_token"));
            }
            desk.grant(consent, rotates)
        }
        _ => error(StatusCode::BAD_REQUEST, "unsupported_grant_type"),
    })
}
