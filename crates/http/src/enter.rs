//! The entrance to the operations: authentication, limits, replays of earlier answers, and the headers of every
//! authenticated answer.

use std::{collections::HashSet, fmt::Display, io::Write as _, sync::Arc};

use axum::{
    extract::{MatchedPath, Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use kalends_accounts::{KeyForm, Principal, TERMS_UPGRADE_HEADER, reach::Touch, session_token};
use kalends_app::{
    Actor, App, Approving, Caller, Idempotency, Leased, Refusal, Repeater, Request as Called,
    operations::{self, Operation},
};
use kalends_kernel::{FieldError, OrgId};
use kalends_plans::{Metric, headers};
use kalends_time::Timestamp;
use url::form_urlencoded;

use crate::{
    approving,
    budget::{self, ANSWERS, Reserved, Room},
    console::{self, Exceeded},
    dry_run,
    error::ApiError,
    extract::{Sender, body_max_of, read_whole, unknown_parameter},
    known::{AnsweredBy, Approved, Arrival, Carried, Known, Requester},
    limits::{ANONYMOUS_KEY_MIN, IDEMPOTENCY_KEY_MAX},
    metered::Metered,
    on_first_use::OnFirstUse,
    provenance::provenance,
    reply::replayed,
    run,
};

pub(crate) const SERVICE_PLAN: HeaderName = HeaderName::from_static("x-service-plan");
const TERMS_UPGRADE: HeaderName = HeaderName::from_static(TERMS_UPGRADE_HEADER);
const RATE_LIMIT: HeaderName = HeaderName::from_static(headers::RATE_LIMIT);
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static(headers::RATE_LIMIT_POLICY);
/// The maximum size of the value of `RateLimit` or `RateLimit-Policy`, in bytes. Numbers have at most 15 digits, and
/// the partition key has 24 characters.
const WRITTEN_MAX: usize = 128;
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The state of the entrance.
#[derive(Clone)]
pub(crate) struct Entrance {
    pub app: Arc<App>,
    /// The operations whose query takes no parameters.
    pub without_query: Arc<OnFirstUse<HashSet<&'static str>>>,
}

/// Wraps every route of the API.
pub(crate) async fn enter(State(entrance): State<Entrance>, mut request: Request, next: Next) -> Response {
    if console::is_form(&request) {
        // Forms have keys of their own. A replay would be JSON.
        request.headers_mut().remove(IDEMPOTENCY_KEY);
    }
    let Some(operation) = operation_of(&request) else {
        return next.run(request).await;
    };
    note_operation(&request, operation);
    // The rarer cases are boxed, so that they do not enlarge the future of every request.
    let mut response = match (request.extensions().get::<Arrival>().copied(), operation.touch) {
        (Some(arrival), Touch::Public) => Box::pin(public(&entrance, operation, arrival, request, next)).await,
        (Some(arrival), Touch::Admin) => {
            let admitted = Box::pin(admit_operator(&entrance.app, arrival, request.headers())).await;
            match admitted {
                Ok(()) => Box::pin(within(&entrance, operation, arrival, None, request, next)).await,
                Err(error) => error.into_response(),
            }
        }
        (Some(arrival), touch) if touch.is_console() || console::is_page(request.uri().path()) => {
            Box::pin(signed_in(&entrance, operation, arrival, request, next)).await
        }
        (Some(arrival), _) => authenticated(&entrance, operation, arrival, request, next).await,
        (None, _) => ApiError::Internal.into_response(),
    };
    response.extensions_mut().insert(AnsweredBy(operation));
    response
}

/// Wraps every route of a router that serves one known caller.
pub(crate) async fn enter_as(
    State((entrance, principal)): State<(Entrance, Arc<Principal>)>,
    request: Request,
    next: Next,
) -> Response {
    let (Some(operation), Some(arrival)) = (operation_of(&request), request.extensions().get::<Arrival>().copied())
    else {
        return next.run(request).await;
    };
    // An inner request is that of its own caller: of a message with tool calls, or of the key that asked for approval.
    let carried = request.extensions().get::<Carried>().map(|Carried(caller)| Arc::clone(&caller.principal));
    let principal = Some(carried.as_ref().unwrap_or(&principal)).filter(|_| !operation.is_public());
    let mut response = within(&entrance, operation, arrival, principal, request, next).await;
    response.extensions_mut().insert(AnsweredBy(operation));
    response
}

/// Runs an operation that needs no credential.
async fn public(
    entrance: &Entrance,
    operation: &'static Operation,
    arrival: Arrival,
    mut request: Request,
    next: Next,
) -> Response {
    let is_form = console::is_form(&request);
    let exceeded = match paced(&entrance.app, operation, arrival).await {
        Ok(()) => None,
        // The page of the form says so, and keeps what was typed.
        Err(refusal @ Refusal::TooFast { retry_after, .. }) if is_form => {
            Some(Exceeded { retry_after, error: Arc::new(refusal.into()) })
        }
        Err(refusal) => return ApiError::from(refusal).into_response(),
    };
    if (is_form || signs_in(operation))
        && let Err(refusal) = entrance.app.admit_entrant(provenance(request.headers()))
    {
        return ApiError::from(refusal).into_response();
    }
    if let Some(exceeded) = exceeded {
        request.extensions_mut().insert(exceeded);
    }
    within(entrance, operation, arrival, None, request, next).await
}

/// Whether the answer can set a session cookie. Another site must not be able to cause that.
fn signs_in(operation: &Operation) -> bool {
    [operations::CONSOLE_SIGN_UP.id, operations::SIGN_IN.id].contains(&operation.id)
}

async fn paced(app: &App, operation: &Operation, arrival: Arrival) -> Result<(), Refusal> {
    match operation.lane() {
        Some(lane) => app.pace_address(lane, arrival.ip).await,
        None => Ok(()),
    }
}

/// Runs an operation of the console, or any other one as a page or form of the console. It needs a session. It checks the
/// session first, then the rate, and only then the access. It is not counted as an API call, so the console stays open
/// over quota.
async fn signed_in(
    entrance: &Entrance,
    operation: &'static Operation,
    arrival: Arrival,
    request: Request,
    next: Next,
) -> Response {
    let app = &entrance.app;
    let (token, mut principal) = match session_of(app, operation, request.headers()).await {
        Ok(session) => session,
        // The page of a form keeps what was typed.
        Err(ApiError::Refused(Refusal::NotSignedIn))
            if console::is_form(&request) && bearer(request.headers()).is_none() =>
        {
            return Box::pin(console::expired(app, operation, arrival.ip, request)).await;
        }
        Err(error) => return error.into_response(),
    };
    note(&request, || Requester::Session(Arc::clone(&principal)));
    let mut response = match app.pace_caller(&app.caller(Arc::clone(&principal))).await {
        Ok(()) => match paced(app, operation, arrival).await {
            Ok(()) => within(entrance, operation, arrival, Some(&principal), request, next).await,
            Err(refusal) => ApiError::from(refusal).into_response(),
        },
        Err(refusal) => too_fast(refusal),
    };
    note_over_limit(app, &principal, operation, arrival, &response);
    let has_succeeded = response.status().is_success() || response.status().is_redirection();
    if operation.writes() && has_succeeded {
        // The session may now be switched to another organization, the terms may be accepted, or the session may have
        // ended.
        principal = app.authenticate_session(&token).await.unwrap_or(principal);
    }
    describe_caller(app, &principal, false, response.headers_mut());
    response
}

/// Notes the operation for the envelope.
pub(crate) fn note_operation(request: &Request, operation: &'static Operation) {
    if let Some(known) = request.extensions().get::<Known>() {
        known.note_operation(operation);
    }
}

/// Notes the requester for the envelope.
pub(crate) fn note(request: &Request, requester: impl FnOnce() -> Requester) {
    if let Some(known) = request.extensions().get::<Known>() {
        known.note(requester());
    }
}

/// Returns the session's token and its principal. If `Authorization: Bearer` is present, only that counts. A cookie
/// counts only if the request comes from one of our own pages.
async fn session_of(
    app: &App,
    operation: &Operation,
    headers: &HeaderMap,
) -> Result<(String, Arc<Principal>), ApiError> {
    if let Some(token) = bearer(headers) {
        return Ok((token.to_owned(), app.authenticate_session(token).await?));
    }
    let token = cookie(headers).ok_or(Refusal::NotSignedIn)?;
    let principal = app.authenticate_session(token).await?;
    app.admit_cookie(operation, provenance(headers))?;
    Ok((token.to_owned(), principal))
}

/// The token in the session's cookie.
fn cookie(headers: &HeaderMap) -> Option<&str> {
    session_token(headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok()))
}

/// Runs an operation that needs a key or a session. It checks the credential first, then the rate and the quota, and
/// only then the access.
async fn authenticated(
    entrance: &Entrance,
    operation: &'static Operation,
    arrival: Arrival,
    request: Request,
    next: Next,
) -> Response {
    let app = &entrance.app;
    // A tool call brings its caller along. The rate and the quota were checked for the message that carried it. So does a
    // request that was approved: they were checked when it was asked for.
    let carried = request.extensions().get::<Carried>().cloned();
    let is_carried = carried.is_some();
    let admitted = match carried {
        Some(Carried(caller)) => Ok(caller),
        None => identified(app, operation, arrival, request.headers()).await,
    };
    let caller = match admitted {
        Ok(caller) => caller,
        Err(error) => return error.into_response(),
    };
    note(&request, || Requester::Caller(Arc::clone(&caller)));
    let principal = &caller.principal;
    let admitted = if is_carried {
        Metered::carried(app, &caller, operation, arrival.at).await
    } else {
        Metered::admit(app, &caller, operation, arrival.at).await
    };
    let mut response = match admitted {
        Ok(metered) => {
            let mut response = within(entrance, operation, arrival, Some(principal), request, next).await;
            let left = metered.end(app, response.status()).await;
            add_monthly_limit(&caller, left, arrival.at, response.headers_mut());
            response
        }
        Err(refusal) => over_limit(&caller, refusal, arrival.at),
    };
    note_over_limit(app, principal, operation, arrival, &response);
    let accepted = operation.id == operations::ACCEPT_TERMS.id && response.status().is_success();
    describe_caller(app, principal, accepted, response.headers_mut());
    response
}

/// The request, as the audit log records it if the entrance refuses it.
const fn called(operation: &'static Operation, Arrival { id, ip, at, .. }: Arrival) -> Called {
    Called::new(id, ip, operation, at)
}

/// Records in the audit log that a limit caused a refusal. Only some of these refusals are recorded.
pub(crate) fn note_over_limit(
    app: &Arc<App>,
    principal: &Principal,
    operation: &'static Operation,
    arrival: Arrival,
    response: &Response,
) {
    if response.status() == StatusCode::TOO_MANY_REQUESTS
        && let Some(ApiError::Refused(refusal)) = response.extensions().get::<Arc<ApiError>>().map(|error| &**error)
    {
        app.note_over_limit(principal, &called(operation, arrival), refusal);
    }
}

/// The answer to a caller that exceeds its rate or its monthly quota.
pub(crate) fn over_limit(caller: &Caller, refusal: Refusal, at: Timestamp) -> Response {
    if let Refusal::TooFast { .. } = refusal {
        return too_fast(refusal);
    }
    let mut response = ApiError::from(refusal).into_response();
    add_monthly_limit(caller, caller.left(Leased::ApiCalls, at), at, response.headers_mut());
    response
}

/// The answer to a known caller that exceeds its rate, with the limit in the headers.
fn too_fast(refusal: Refusal) -> Response {
    let burst = match &refusal {
        Refusal::TooFast { rate, retry_after } => Some(headers::burst_headers(*rate, *retry_after)),
        _ => None,
    };
    let mut response = ApiError::from(refusal).into_response();
    if let Some(burst) = burst {
        rate_limit(response.headers_mut(), &burst.policy, &burst.limit);
    }
    response
}

/// Adds the headers that show how many API calls are left in the month.
pub(crate) fn add_monthly_limit(caller: &Caller, left: Option<u64>, at: Timestamp, headers: &mut HeaderMap) {
    let limit = headers::monthly_limit(caller.principal.limits.get(Metric::ApiCalls), left, at);
    if let (Some(policy), Some(limit)) = (&caller.policy, limit) {
        rate_limit(headers, policy, &limit);
    }
}

fn rate_limit(headers: &mut HeaderMap, policy: &impl Display, limit: &impl Display) {
    headers.insert(RATE_LIMIT_POLICY, written(policy));
    headers.insert(RATE_LIMIT, written(limit));
}

/// Formats a header's value without allocating a string. None of the values is too long or contains invalid
/// characters.
fn written(value: &impl Display) -> HeaderValue {
    let mut buffer = [0; WRITTEN_MAX];
    let mut rest = buffer.as_mut_slice();
    let fits = write!(rest, "{value}").is_ok();
    let length = WRITTEN_MAX - rest.len();
    let value = HeaderValue::from_bytes(&buffer[..length]).ok().filter(|_| fits);
    value.unwrap_or(const { HeaderValue::from_static("") })
}

fn operation_of(request: &Request) -> Option<&'static Operation> {
    let path = request.extensions().get::<MatchedPath>()?;
    let method = if request.method() == Method::HEAD { "GET" } else { request.method().as_str() };
    operations::find(method, path.as_str()).or_else(|| console::operation(method, path.as_str()))
}

/// The holder of the key or of the session. A key has its own form, so it is never looked up as a session's token.
async fn identified(
    app: &Arc<App>,
    operation: &'static Operation,
    arrival: Arrival,
    headers: &HeaderMap,
) -> Result<Arc<Caller>, ApiError> {
    let has_session = match bearer(headers) {
        Some(token) => KeyForm::of(token).is_none(),
        None => cookie(headers).is_some(),
    };
    if !has_session {
        return admit_key(app, operation, arrival, headers).await;
    }
    match session_of(app, operation, headers).await {
        Ok((_, principal)) => Ok(Arc::new(app.caller(principal))),
        // A token that is neither.
        Err(ApiError::Refused(Refusal::NotSignedIn)) if bearer(headers).is_some() => {
            admit_key(app, operation, arrival, headers).await
        }
        Err(error) => Err(error),
    }
}

/// [`admit`], on any route but that of the tools. Access tokens of connectors are for the tools alone.
async fn admit_key(
    app: &Arc<App>,
    operation: &'static Operation,
    arrival: Arrival,
    headers: &HeaderMap,
) -> Result<Arc<Caller>, ApiError> {
    let caller = admit(app, operation, arrival, headers).await?;
    if caller.principal.connector.is_some() {
        return Err(Refusal::ConnectorElsewhere.into());
    }
    Ok(caller)
}

/// Authenticates the key. A refused key is recorded in the audit log.
pub(crate) async fn admit(
    app: &Arc<App>,
    operation: &'static Operation,
    arrival: Arrival,
    headers: &HeaderMap,
) -> Result<Arc<Caller>, ApiError> {
    let key = bearer(headers).ok_or(Refusal::Unauthorized)?;
    let admitted = app.authenticate(key).await;
    if let Err(Refusal::Unauthorized) = &admitted {
        app.note_refused_key(key, &called(operation, arrival));
    }
    Ok(admitted?)
}

/// Authenticates the operator. If no token is configured, the route does not exist.
async fn admit_operator(app: &App, arrival: Arrival, headers: &HeaderMap) -> Result<(), ApiError> {
    if app.settings().admin_token.is_none() {
        return Err(ApiError::NoRoute);
    }
    Ok(app.admit_operator(bearer(headers), arrival.ip).await?)
}

/// The value of `Authorization: Bearer`.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, key)| key.trim())
}

/// Checks again that the credential of a request gives access, after its answer was waited for. A tool call has none of
/// its own.
pub(crate) async fn readmit(app: &App, headers: &HeaderMap, actor: &Actor) -> Result<(), ApiError> {
    let principal = match bearer(headers) {
        Some(key) if KeyForm::of(key).is_some() => Arc::clone(&app.authenticate(key).await?.principal),
        Some(token) => app.authenticate_session(token).await?,
        None => match cookie(headers) {
            Some(token) => app.authenticate_session(token).await?,
            None => return Ok(()),
        },
    };
    if principal.org != actor.org() {
        return Err(Refusal::Unauthorized.into());
    }
    Actor::enter(principal, actor.request.clone())?;
    Ok(())
}

/// Passes the request on with its [`Called`] or, if it was authenticated, its [`Actor`]. Replays the answer if the
/// request was answered before.
async fn within(
    entrance: &Entrance,
    operation: &'static Operation,
    arrival: Arrival,
    principal: Option<&Arc<Principal>>,
    mut request: Request,
    next: Next,
) -> Response {
    let (id, ip, started) = (arrival.id, arrival.ip, arrival.at);
    let mut called = Called::new(id, ip, operation, started);
    match dry_run::take(operation, &mut request) {
        Ok(dry_run) => called.dry_run = dry_run,
        Err(error) => return ApiError::from(error).into_response(),
    }
    if let Some(Approved { approved, is_dry_run }) = request.extensions_mut().remove() {
        // A release may have changed which operation answers the route.
        if approved.approval.operation != operation.id {
            return ApiError::NoRoute.into_response();
        }
        called.approving = Some(Approving::Make(approved));
        called.dry_run = is_dry_run;
    }
    // A caller that may not call the operation gets that error first.
    let named = run::of(operation, &request);
    called.run = named.as_ref().ok().cloned().flatten();
    let is_dry_run = called.dry_run;
    // Access is checked before anything in the request is read.
    let mut caller = match principal.map(|principal| Actor::enter(Arc::clone(principal), called.clone())).transpose() {
        Ok(actor) => actor.map_or(Entered::Nobody(called), Entered::Actor),
        Err(refusal) => return ApiError::from(refusal).into_response(),
    };
    if let Err(refusal) = named {
        return ApiError::from(refusal).into_response();
    }
    if let Err(error) = check_query(entrance, operation, request.uri().path(), request.uri().query()) {
        return error.into_response();
    }
    let for_tool = request.extensions().get::<Carried>().is_some();
    let room = match principal {
        Some(principal) => {
            request.extensions_mut().insert(Sender(principal.org));
            // Pages of the console ignore the parameters of the operation.
            let query = request.uri().query().filter(|_| !console::is_page(request.uri().path()));
            let bytes = budget::needed(operation, query, for_tool);
            match room_for(principal.org, bytes).await {
                Ok(room) => room,
                Err(error) => return error.into_response(),
            }
        }
        None => None,
    };
    if let Some(principal) = principal
        && let Some(policy) = approving::policy(principal, caller.called())
    {
        // Few keys need approval, so this future is not part of every other one.
        let asked = Box::pin(approving::ask(caller.called(), principal, policy, request)).await;
        match asked {
            Ok((captured, asking)) => {
                request = captured;
                caller.called_mut().approving = Some(asking);
            }
            Err(error) => return error.into_response(),
        }
    }
    let key = if operation.writes() { request.headers_mut().remove(IDEMPOTENCY_KEY) } else { None };
    let mut response = match key.filter(|_| !is_dry_run) {
        Some(key) => Box::pin(once(entrance, caller, principal, key, request, next)).await,
        None => {
            caller.insert(&mut request);
            next.run(request).await
        }
    };
    if is_dry_run {
        dry_run::mark(&mut response);
    }
    match principal {
        // The tool's result holds the memory.
        Some(_) if for_tool => {
            response.extensions_mut().insert(Reserved::new(room));
            response
        }
        Some(principal) => budget::hold(&ANSWERS, principal.org, room, !operation.writes(), response)
            .unwrap_or_else(IntoResponse::into_response),
        None => response,
    }
}

/// Reserves `bytes` of memory for an answer.
async fn room_for(org: OrgId, bytes: usize) -> Result<Option<Room>, ApiError> {
    match bytes {
        0 => Ok(None),
        bytes => match ANSWERS.reserve(org, bytes).await {
            Some(room) => Ok(Some(room)),
            None => Err(ApiError::AnswersUnread(ANSWERS.each())),
        },
    }
}

/// Rejects parameters if the operation takes none. Reads outside `/v1`, except those of booking pages, ignore
/// parameters, because clients add them to bypass caches. An operation that takes parameters checks them itself. The
/// booking pages among these operations ignore unknown ones, which links may contain.
fn check_query(entrance: &Entrance, operation: &Operation, path: &str, query: Option<&str>) -> Result<(), ApiError> {
    let first = form_urlencoded::parse(query.unwrap_or("").as_bytes()).next();
    // Pages of the console ignore parameters too, whatever operation they are.
    let strict =
        !console::is_page(path) && ["/v1/", "/book/{slug}"].iter().any(|below| operation.path.starts_with(below));
    match first {
        Some((name, _)) if strict && entrance.without_query.contains(operation.id) => {
            Err(unknown_parameter(&name).into())
        }
        _ => Ok(()),
    }
}

/// The caller of an operation.
enum Entered {
    /// A caller without a key or a session: an anonymous caller or the operator.
    Nobody(Called),
    /// The holder of a key or of a session.
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

    /// Attaches the caller to the request for the handlers' extractors.
    fn insert(self, request: &mut Request) {
        match self {
            Self::Nobody(called) => drop(request.extensions_mut().insert(called)),
            Self::Actor(actor) => drop(request.extensions_mut().insert(actor)),
        }
    }
}

/// Determines what identifies a repeated request: its key and its content. The whole body is read for this.
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
        let message = format!(
            "must be at least {ANONYMOUS_KEY_MIN} characters without an API key or a session, such as a UUID; got {}",
            key.len()
        );
        return Err(FieldError::new("Idempotency-Key", message).into());
    }
    let (request, body) = read_whole(request, body_max_of(called.operation)).await?;
    let address = called.ip.map(|ip| ip.to_string()).unwrap_or_default();
    let repeater = match principal {
        Some(principal) => Repeater::of(principal),
        None => Repeater::Anonymous(&address),
    };
    let target = request.uri().path_and_query().map_or("", |target| target.as_str());
    let idempotency = Idempotency::of(repeater, called.operation, key, target, &body);
    Ok((request, idempotency))
}

/// Runs a request with an idempotency key, or replays its answer if it was answered before.
async fn once(
    entrance: &Entrance,
    mut caller: Entered,
    principal: Option<&Arc<Principal>>,
    key: HeaderValue,
    request: Request,
    next: Next,
) -> Response {
    let (mut request, idempotency) = match identify(caller.called(), principal, &key, request).await {
        Ok(identified) => identified,
        Err(error) => return error.into_response(),
    };
    let operation = caller.called().operation;
    caller.called_mut().idempotency = Some(idempotency);
    caller.insert(&mut request);
    repeatable(&entrance.app, operation, &idempotency, request, next).await.unwrap_or_else(IntoResponse::into_response)
}

async fn repeatable(
    app: &App,
    operation: &Operation,
    idempotency: &Idempotency,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let _running = app.begin(idempotency)?;
    if let Some(answer) = app.earlier_answer(operation, idempotency).await? {
        return Ok(replayed(answer));
    }
    let response = next.run(request).await;
    // A repetition that raced the first request may find that its effect exists already (404, 412, ...).
    let refused = response.extensions().get::<Arc<ApiError>>().is_some();
    if refused && let Some(answer) = app.earlier_answer(operation, idempotency).await? {
        return Ok(replayed(answer));
    }
    Ok(response)
}

/// Adds the headers of [`enter`] to an answer that broke off before [`enter`] could add them.
pub(crate) fn describe_broken_off(app: &App, requester: &Requester, at: Timestamp, headers: &mut HeaderMap) {
    if headers.contains_key(SERVICE_PLAN) {
        return;
    }
    let principal = match requester {
        Requester::Caller(caller) => {
            add_monthly_limit(caller, caller.left(Leased::ApiCalls, at), at, headers);
            &caller.principal
        }
        Requester::Session(principal) => principal,
    };
    describe_caller(app, principal, false, headers);
}

/// Adds the plan, and the version of the terms that the organization has not accepted yet. `accepted` is whether this
/// request accepted them. The answer to a session is not cached: a browser would show it after signing out.
pub(crate) fn describe_caller(app: &App, principal: &Principal, accepted: bool, headers: &mut HeaderMap) {
    headers.insert(SERVICE_PLAN, HeaderValue::from_static(principal.plan.public_name()));
    let announced = app.settings().terms.upgrade_header(principal.accepted_terms.as_deref()).filter(|_| !accepted);
    if let Some(Ok(version)) = announced.map(HeaderValue::from_str) {
        headers.insert(TERMS_UPGRADE, version);
    }
    if principal.kind.role().is_some() {
        headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    }
}
