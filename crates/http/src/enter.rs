//! Where a request enters its operation: who calls, whether the call was answered before, and the
//! headers that every authenticated answer carries.

use std::{collections::HashSet, sync::Arc};

use axum::{
    body::Body,
    extract::{MatchedPath, Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use kalends_accounts::{Principal, reach::Touch};
use kalends_app::{
    Actor, App, Idempotency, Refusal, Repeater, Request as Called,
    operations::{self, Operation},
};
use kalends_kernel::FieldError;
use kalends_quotas::{
    Metric,
    headers::{self, RateLimitHeaders},
};
use url::form_urlencoded;

use crate::{
    envelope::{AnsweredBy, Arrival},
    error::ApiError,
    extract::{read_body, unknown_parameter},
    metered::Metered,
    reply::replayed,
};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// The most characters of an `Idempotency-Key`.
const IDEMPOTENCY_KEY_MAX: usize = 255;

/// The fewest characters where there is no API key: the answer may hold one, and callers behind one
/// address must not guess each other's.
const ANONYMOUS_KEY_MIN: usize = 20;

/// What stands at the entrance.
#[derive(Clone)]
pub(crate) struct Entrance {
    pub app: Arc<App>,
    /// The operations whose query takes no parameters.
    pub without_query: Arc<HashSet<&'static str>>,
}

/// Runs around every route of the API.
pub(crate) async fn enter(State(entrance): State<Entrance>, request: Request, next: Next) -> Response {
    let Some(operation) = operation_of(&request) else {
        return next.run(request).await;
    };
    let mut response = match (request.extensions().get::<Arrival>().copied(), operation.touch) {
        (Some(arrival), Touch::Public) => public(&entrance, operation, arrival, request, next).await,
        (Some(arrival), Touch::Admin) => match admit_operator(&entrance.app, request.headers()) {
            Ok(()) => within(&entrance, operation, arrival, None, request, next).await,
            Err(error) => error.into_response(),
        },
        (Some(arrival), _) => authenticated(&entrance, operation, arrival, request, next).await,
        (None, _) => ApiError::Internal.into_response(),
    };
    response.extensions_mut().insert(AnsweredBy(operation));
    response
}

/// Runs around every route where it is known who calls.
pub(crate) async fn enter_as(
    State((entrance, principal)): State<(Entrance, Arc<Principal>)>,
    request: Request,
    next: Next,
) -> Response {
    let (Some(operation), Some(arrival)) = (operation_of(&request), request.extensions().get::<Arrival>().copied())
    else {
        return next.run(request).await;
    };
    let principal = Some(&principal).filter(|_| !operation.is_public());
    let mut response = within(&entrance, operation, arrival, principal, request, next).await;
    response.extensions_mut().insert(AnsweredBy(operation));
    response
}

/// An operation that needs no credential.
async fn public(
    entrance: &Entrance,
    operation: &'static Operation,
    arrival: Arrival,
    request: Request,
    next: Next,
) -> Response {
    let mut response = match paced(&entrance.app, operation, arrival).await {
        Ok(()) => within(entrance, operation, arrival, None, request, next).await,
        Err(refusal) => ApiError::from(refusal).into_response(),
    };
    if !operation.writes() {
        // Pages of any origin may read what is public (ruling 2.10).
        let anywhere = HeaderValue::from_static("*");
        response.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, anywhere);
    }
    response
}

async fn paced(app: &App, operation: &Operation, arrival: Arrival) -> Result<(), Refusal> {
    match operation.lane() {
        Some(lane) => app.pace_address(lane, arrival.ip, arrival.at).await,
        None => Ok(()),
    }
}

/// An operation that needs a key: whose, how fast, how often, and only then what for.
async fn authenticated(
    entrance: &Entrance,
    operation: &'static Operation,
    arrival: Arrival,
    request: Request,
    next: Next,
) -> Response {
    let app = &entrance.app;
    let principal = match authenticate(app, request.headers()).await {
        Ok(principal) => principal,
        Err(error) => {
            if let (ApiError::Refused(Refusal::Unauthorized), Some(key)) = (&error, bearer(request.headers())) {
                app.note_refused_key(key, &called(operation, arrival));
            }
            return error.into_response();
        }
    };
    let mut response = match app.pace_key(&principal, arrival.at).await {
        Ok(()) => metered(entrance, operation, arrival, &principal, request, next).await,
        Err(refusal) => {
            app.note_over_limit(&principal, &called(operation, arrival), &refusal);
            too_fast(refusal)
        }
    };
    describe_caller(app, &principal, response.headers_mut());
    response
}

/// Counts the request, unless it turns out not to count, and tells what is left.
async fn metered(
    entrance: &Entrance,
    operation: &'static Operation,
    arrival: Arrival,
    principal: &Arc<Principal>,
    request: Request,
    next: Next,
) -> Response {
    let app = &entrance.app;
    let mut response = match Metered::begin(app, principal, operation, arrival.at).await {
        Ok(metered) => {
            let response = within(entrance, operation, arrival, Some(principal), request, next).await;
            metered.end(app, response.status()).await;
            response
        }
        Err(refusal) => {
            app.note_over_limit(principal, &called(operation, arrival), &refusal);
            ApiError::from(refusal).into_response()
        }
    };
    let limit = principal.limits.get(Metric::ApiCalls);
    if limit.is_some() {
        let left = app.left(principal, Metric::ApiCalls, arrival.at);
        let partition = principal.org.uuid();
        let told = headers::monthly_headers(limit, left, partition.as_bytes(), arrival.at);
        rate_limit(response.headers_mut(), told);
    }
    response
}

/// The request as the audit log tells of it where it is refused at the entrance.
const fn called(operation: &'static Operation, Arrival { id, ip, at, .. }: Arrival) -> Called {
    Called { id, ip, operation, started: at, idempotency: None, local: false }
}

/// A refusal that tells how fast the caller may call.
fn too_fast(refusal: Refusal) -> Response {
    let told = match &refusal {
        Refusal::TooFast { rate, retry_after } => Some(headers::burst_headers(*rate, *retry_after)),
        _ => None,
    };
    let mut response = ApiError::from(refusal).into_response();
    rate_limit(response.headers_mut(), told);
    response
}

fn rate_limit(headers: &mut HeaderMap, told: Option<RateLimitHeaders>) {
    let Some(RateLimitHeaders { policy, limit }) = told else { return };
    for (name, value) in [(headers::RATE_LIMIT_POLICY, policy), (headers::RATE_LIMIT, limit)] {
        if let Ok(value) = HeaderValue::try_from(value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
}

fn operation_of(request: &Request) -> Option<&'static Operation> {
    let path = request.extensions().get::<MatchedPath>()?;
    let method = if request.method() == Method::HEAD { "GET" } else { request.method().as_str() };
    operations::find(method, path.as_str())
}

async fn authenticate(app: &App, headers: &HeaderMap) -> Result<Arc<Principal>, ApiError> {
    let key = bearer(headers).ok_or(Refusal::Unauthorized)?;
    Ok(app.authenticate(key).await?)
}

/// Where no token is configured there is no such route, whatever is presented (ruling 1).
fn admit_operator(app: &App, headers: &HeaderMap) -> Result<(), ApiError> {
    let token = app.settings().admin_token.as_ref().ok_or(ApiError::NoRoute)?;
    let opens = bearer(headers).is_some_and(|presented| token.opens(presented));
    if opens { Ok(()) } else { Err(Refusal::Unauthorized.into()) }
}

/// What is presented as `Authorization: Bearer`.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, key)| key.trim())
}

/// Hands the request on with its [`Called`] and, where it has a key, its [`Actor`]; or replays the
/// answer that it got before.
async fn within(
    entrance: &Entrance,
    operation: &'static Operation,
    arrival: Arrival,
    principal: Option<&Arc<Principal>>,
    mut request: Request,
    next: Next,
) -> Response {
    let (id, ip, started) = (arrival.id, arrival.ip, arrival.at);
    let called = Called { id, ip, operation, started, idempotency: None, local: false };
    // Who may not is told before anything of the request is looked at.
    let mut caller = match principal.map(|principal| Actor::enter(Arc::clone(principal), called.clone())).transpose() {
        Ok(actor) => actor.map_or(Entered::Nobody(called), Entered::Actor),
        Err(refusal) => return ApiError::from(refusal).into_response(),
    };
    if let Err(error) = check_query(entrance, operation, request.uri().query()) {
        return error.into_response();
    }
    let key = if operation.writes() { request.headers_mut().remove(IDEMPOTENCY_KEY) } else { None };
    let Some(key) = key else {
        caller.insert(&mut request);
        return next.run(request).await;
    };
    let (mut request, idempotency) = match identify(caller.called(), principal, &key, request).await {
        Ok(identified) => identified,
        Err(error) => return error.into_response(),
    };
    caller.called_mut().idempotency = Some(idempotency);
    caller.insert(&mut request);
    match once(&entrance.app, &idempotency, request, next).await {
        Ok(response) => response,
        Err(error) => error.into_response(),
    }
}

/// Refuses parameters where none are taken (ruling 2.3). Outside `/v1` callers may add what keeps
/// their caches away.
fn check_query(entrance: &Entrance, operation: &Operation, query: Option<&str>) -> Result<(), ApiError> {
    let first = form_urlencoded::parse(query.unwrap_or("").as_bytes()).next();
    match first {
        Some((name, _)) if operation.path.starts_with("/v1/") && entrance.without_query.contains(operation.id) => {
            Err(unknown_parameter(&name).into())
        }
        _ => Ok(()),
    }
}

/// Who came in.
enum Entered {
    /// Somebody without a credential.
    Nobody(Called),
    /// The holder of a key.
    Actor(Actor),
}

impl Entered {
    const fn called(&self) -> &Called {
        match self {
            Self::Nobody(called) => called,
            Self::Actor(actor) => &actor.request,
        }
    }

    const fn called_mut(&mut self) -> &mut Called {
        match self {
            Self::Nobody(called) => called,
            Self::Actor(actor) => &mut actor.request,
        }
    }

    /// Leaves the caller where the handlers' extractors look.
    fn insert(self, request: &mut Request) {
        match self {
            Self::Nobody(called) => drop(request.extensions_mut().insert(called)),
            Self::Actor(actor) => drop(request.extensions_mut().insert(actor)),
        }
    }
}

/// Reads the whole body: it is part of what makes a request the same.
async fn identify(
    called: &Called,
    principal: Option<&Arc<Principal>>,
    key: &HeaderValue,
    request: Request,
) -> Result<(Request, Idempotency), ApiError> {
    let key = key.to_str().ok().filter(|key| (1..=IDEMPOTENCY_KEY_MAX).contains(&key.len())).ok_or_else(|| {
        FieldError::new("Idempotency-Key", format!("must be 1 to {IDEMPOTENCY_KEY_MAX} visible ASCII characters"))
    })?;
    if principal.is_none() && key.len() < ANONYMOUS_KEY_MIN {
        let message = format!("must be at least {ANONYMOUS_KEY_MIN} characters without an API key, such as a UUID");
        return Err(FieldError::new("Idempotency-Key", message).into());
    }
    let (parts, body) = request.into_parts();
    let body = read_body(body).await?;
    let address = called.ip.map(|ip| ip.to_string()).unwrap_or_default();
    let repeater = match principal {
        Some(principal) => Repeater::Key(principal.org, &principal.key),
        None => Repeater::Anonymous(&address),
    };
    let target = parts.uri.path_and_query().map_or("", |target| target.as_str());
    let idempotency = Idempotency::of(repeater, called.operation, key, target, &body);
    Ok((Request::from_parts(parts, Body::from(body)), idempotency))
}

async fn once(app: &App, idempotency: &Idempotency, request: Request, next: Next) -> Result<Response, ApiError> {
    let _running = app.begin(idempotency)?;
    if let Some(answer) = app.earlier_answer(idempotency).await? {
        return Ok(replayed(answer));
    }
    let response = next.run(request).await;
    // A repetition that raced the first request may find its effect already there (404, 412, ...).
    let refused = response.extensions().get::<Arc<ApiError>>().is_some();
    if refused && let Some(answer) = app.earlier_answer(idempotency).await? {
        return Ok(replayed(answer));
    }
    Ok(response)
}

/// The plan, and the terms that the organization has not accepted (Authentication, rules 9 and 10).
fn describe_caller(app: &App, principal: &Principal, headers: &mut HeaderMap) {
    headers.insert("x-service-plan", HeaderValue::from_static(principal.plan.shown()));
    let terms = &app.settings().terms;
    if terms.to_announce(principal.accepted_terms.as_deref())
        && let Ok(version) = HeaderValue::from_str(&terms.version)
    {
        headers.insert("service-terms-upgrade-required", version);
    }
}
