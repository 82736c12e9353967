//! A stand-in for a provider of calendars, Google or Microsoft, which checks what is asked of it as strictly as one may.
//!
//! Whoever consents there is one of its accounts, whose calendars and events the test sets. Events have titles, which it tells
//! wherever the real one might, and beyond.

mod google;
mod microsoft;

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

use crate::authorization::{self, Codes, Parameters, back, complaint, error, is_our_client, value};

/// How an event is shown to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transparency {
    /// As time that is taken.
    Busy,
    /// As time that is free all the same.
    Free,
}

/// An event at the provider.
#[derive(Debug, Clone)]
pub struct TheirEvent {
    /// When it begins.
    pub start: DateTime<Utc>,
    /// When it ends.
    pub end: DateTime<Utc>,
    /// What it is called.
    pub title: String,
    /// How it is shown.
    pub shown: Transparency,
}

#[derive(Debug, Clone)]
struct TheirCalendar {
    id: String,
    name: String,
    events: Vec<TheirEvent>,
}

/// What a token opens.
#[derive(Clone)]
struct Consent {
    account: String,
    scopes: BTreeSet<String>,
}

/// What a code is exchanged for.
struct Granted {
    consent: Consent,
    /// Whether what lasts was asked for.
    lasts: bool,
}

struct Desk {
    codes: Codes<Granted>,
    /// The calendars of each account, its own first.
    accounts: BTreeMap<String, Vec<TheirCalendar>>,
    /// Who is in front of the browser, and whether they consent.
    visitor: String,
    declines: bool,
    failing: Option<u16>,
    /// How long access tokens last, in seconds.
    lasts: u32,
    access: BTreeMap<String, Consent>,
    refresh: BTreeMap<String, Consent>,
    /// Every token that there ever was.
    tokens: Vec<String>,
    revoked: Vec<String>,
    asked: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Google,
    Microsoft,
}

/// A provider of calendars on a port of its own.
#[derive(Clone)]
pub struct CalendarProvider {
    kind: Kind,
    base: String,
    desk: Arc<Mutex<Desk>>,
}

impl CalendarProvider {
    /// Starts a stand-in for Google; it ends with the test.
    pub async fn google() -> Self {
        Self::start(Kind::Google).await
    }

    /// Starts a stand-in for Microsoft; it ends with the test.
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
            asked: Vec::new(),
        };
        let provider = Self { kind, base, desk: Arc::new(Mutex::new(desk)) };
        let api = match kind {
            Kind::Google => google::routes(),
            Kind::Microsoft => microsoft::routes(),
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

    /// The variables that make a service connect its calendars, but for what the service may reach.
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

    /// Registers where a service at `base` has browsers sent back.
    pub fn register(&self, base: &str) {
        let redirect_uri = format!("{base}/v1/calendar-connections/oauth/{}/callback", self.name());
        self.desk(|desk| desk.codes.register(&redirect_uri));
    }

    /// Opens an account with calendars of these identifiers and names, its own first, or changes which those are. Who
    /// opens it is in front of the browser from then on.
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

    /// Says what is on a calendar from now on.
    pub fn events(&self, account: &str, calendar: &str, events: &[TheirEvent]) {
        self.desk(|desk| {
            let calendars = desk.accounts.get_mut(account).expect("an account");
            let known = calendars.iter_mut().find(|known| known.id == calendar).expect("a calendar of the account");
            known.events = events.to_vec();
            known.events.sort_by_key(|event| event.start);
        });
    }

    /// Puts somebody else in front of the browser, who has an account already.
    pub fn visited_by(&self, account: &str) {
        self.desk(|desk| account.clone_into(&mut desk.visitor));
    }

    /// Decides whether whoever is in front of the browser says no.
    pub fn declines(&self, declines: bool) {
        self.desk(|desk| desk.declines = declines);
    }

    /// Has everything but the page of consent answered with that status, or as it should.
    pub fn fails(&self, status: Option<u16>) {
        self.desk(|desk| desk.failing = status);
    }

    /// Decides how many seconds access tokens last from now on.
    pub fn lasts(&self, seconds: u32) {
        self.desk(|desk| desk.lasts = seconds);
    }

    /// Somebody takes back, at the provider, what they consented to.
    pub fn forgets(&self, account: &str) {
        self.desk(|desk| desk.forget(account));
    }

    /// The refresh tokens that open an account.
    pub fn refresh_tokens(&self, account: &str) -> Vec<String> {
        let of = |desk: &mut Desk| {
            let of_account = desk.refresh.iter().filter(|(_, consent)| consent.account == account);
            of_account.map(|(token, _)| token.clone()).collect()
        };
        self.desk(of)
    }

    /// Every token that it ever told.
    pub fn tokens(&self) -> Vec<String> {
        self.desk(|desk| desk.tokens.clone())
    }

    /// The tokens that it was asked to forget.
    pub fn revoked(&self) -> Vec<String> {
        self.desk(|desk| desk.revoked.clone())
    }

    /// The paths that it was asked for, but for the page of consent.
    pub fn asked(&self) -> Vec<String> {
        self.desk(|desk| desk.asked.clone())
    }

    /// A code for an attempt that somebody else began, at another client of theirs.
    pub fn foreign_code(&self, base: &str) -> String {
        let redirect_uri = format!("{base}/v1/calendar-connections/oauth/{}/callback", self.name());
        self.desk(|desk| {
            let consent = Consent { account: desk.visitor.clone(), scopes: self.scopes() };
            desk.codes.issue_elsewhere(&redirect_uri, Granted { consent, lasts: true })
        })
    }

    /// Follows a browser's way through the provider: where it is sent back, or the provider's complaint.
    ///
    /// # Errors
    /// The complaint.
    pub async fn authorize(&self, location: &str) -> Result<String, String> {
        authorization::follow(&self.base, location).await
    }

    /// The least that tells when somebody is busy.
    fn scopes(&self) -> BTreeSet<String> {
        let scopes = match self.kind {
            Kind::Google => google::SCOPES,
            Kind::Microsoft => microsoft::SCOPES,
        };
        scopes.iter().map(|scope| (*scope).to_owned()).collect()
    }

    /// Whose calendars may be read with the token of a request, to which they must have consented.
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

    /// An answer with tokens.
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

/// Notes what is asked, and answers it as it was told to.
async fn answers(State(provider): State<CalendarProvider>, request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    let failing = provider.desk(|desk| {
        desk.asked.push(path);
        desk.failing
    });
    match failing {
        Some(status) => (StatusCode::from_u16(status).expect("a status"), "it does not work").into_response(),
        None => next.run(request).await,
    }
}

async fn authorize(State(provider): State<CalendarProvider>, Query(asked): Query<Vec<(String, String)>>) -> Response {
    let given = match provider.desk(|desk| desk.codes.asked(&asked)) {
        Ok(given) => given,
        Err(wrong) => return complaint(&wrong),
    };
    let scopes: BTreeSet<String> = value(&given, "scope").split(' ').map(str::to_owned).collect();
    if scopes != provider.scopes() {
        return complaint("scope");
    }
    let lasts = match provider.kind {
        // Without the latter, only the first consent gets what lasts.
        Kind::Google => value(&given, "access_type") == "offline" && value(&given, "prompt") == "consent",
        Kind::Microsoft => scopes.contains(microsoft::LASTING),
    };
    let code = provider.desk(|desk| {
        let consent = Consent { account: desk.visitor.clone(), scopes };
        (!desk.declines).then(|| desk.codes.issue(&given, Granted { consent, lasts }))
    });
    // Providers add what they like.
    let to = match &code {
        Some(code) => back(&given, &[("code", code), ("scope", value(&given, "scope")), ("session_state", "x")]),
        None => back(&given, &[("error", "access_denied"), ("error_description", "The human says no.")]),
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
