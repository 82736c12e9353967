//! Around every request: its identifier, the envelope of its error, a line in the log, a metric.

use std::{
    any::Any,
    net::{IpAddr, SocketAddr},
    sync::{Arc, OnceLock},
};

use axum::{
    extract::{ConnectInfo, Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, StatusCode};
use kalends_accounts::Principal;
use kalends_app::{App, Caller, Refusal, operations::Operation, ports::CredentialsError};
use kalends_kernel::{RequestId, StoreError, Timestamp};

use crate::{
    cors::Cors,
    enter::describe_broken_off,
    error::ApiError,
    head, incoming,
    mcp::Carried,
    pages::{Finished, Wanted},
    security,
};

/// From where a request comes, as the proxies in between have it.
pub(crate) const FORWARDED_FOR: &str = "x-forwarded-for";

/// What is known of a request before its route is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrival {
    pub id: RequestId,
    pub at: Timestamp,
    pub ip: Option<IpAddr>,
}

/// What was asked and by whom, noted where the entrance finds out and read where an answer takes its final form: one that
/// broke off (a deadline, a panic) has not come back through the entrance.
#[derive(Clone, Default)]
pub(crate) struct Known(Arc<Noted>);

#[derive(Default)]
struct Noted {
    operation: OnceLock<&'static Operation>,
    whom: OnceLock<Requester>,
}

/// Who calls.
pub(crate) enum Requester {
    /// The holder of a key.
    Caller(Arc<Caller>),
    /// The holder of a session.
    Session(Arc<Principal>),
}

impl Known {
    /// Notes who calls; the first word counts.
    pub(crate) fn note(&self, whom: Requester) {
        // Nobody enters twice.
        let _ = self.0.whom.set(whom);
    }

    /// Notes what is asked; the first word counts.
    pub(crate) fn note_operation(&self, operation: &'static Operation) {
        let _ = self.0.operation.set(operation);
    }
}

/// Which operation answered, noted on the response.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AnsweredBy(pub &'static Operation);

/// The status that was answered, noted on the response.
#[derive(Debug, Clone, Copy)]
struct Answered(StatusCode);

/// Gives the request its identifier and the response its final form. An identifier that the caller
/// sends is not trusted (ruling 2.1).
pub(crate) async fn envelope(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let at = app.now();
    let id = RequestId::new(at, app.entropy());
    let ip = address(&app, &request);
    let known = Known::default();
    request.extensions_mut().insert(Arrival { id, at, ip });
    request.extensions_mut().insert(known.clone());

    let page = Wanted::of(&request);
    let cors = Cors::of(&app.settings().cors_origins, request.headers());

    let answer = async |request: Request| match admit(&request, &cors) {
        Ok(None) => next.run(request).await,
        Ok(Some(answer)) => answer,
        Err(error) => error.into_response(),
    };
    let mut response = incoming::serve(request, answer).await;
    let operation = response.extensions().get::<AnsweredBy>().map(|by| by.0);
    let operation = operation.or_else(|| known.0.operation.get().copied());
    let failed = response.status().is_client_error() || response.status().is_server_error();
    let failed = failed && response.extensions_mut().remove::<Finished>().is_none();
    let error = response.extensions_mut().remove::<Arc<ApiError>>();
    // A failure without a reason is one of the framework's own rejections.
    let error = error.or_else(|| failed.then(|| Arc::new(ApiError::of_status(response.status()))));
    if let Some(error) = error {
        log(&error, id, operation);
        let headers = std::mem::take(response.headers_mut());
        response = match &page {
            Some(page) => page.render(&error, id),
            None => error.render(&app, id, operation),
        };
        keep_headers(&mut response, &headers);
    }
    if let Some(whom) = known.0.whom.get() {
        describe_broken_off(&app, whom, at, response.headers_mut());
    }
    cors.describe(operation, response.headers_mut());
    security::describe(response.headers_mut());
    if let Ok(value) = HeaderValue::from_str(&id.to_string()) {
        response.headers_mut().insert("x-request-id", value);
    }
    measure(&app, at, operation, &response);
    let status = response.status();
    response.extensions_mut().insert(Answered(status));
    response
}

/// Refuses what no route should see, and answers what needs none.
fn admit(request: &Request, cors: &Cors) -> Result<Option<Response>, ApiError> {
    // A tool's call is made here: it has no head of its own.
    if request.extensions().get::<Carried>().is_some() {
        return Ok(None);
    }
    head::check(request)?;
    Ok(cors.preflight(request.method(), request.headers()))
}

/// From where the request comes, as far as the proxies between may be believed.
fn address(app: &App, request: &Request) -> Option<IpAddr> {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>()?.0.ip();
    let forwarded: Vec<&str> = request.headers().get_all(FORWARDED_FOR).iter().map(readable).collect();
    Some(app.settings().trusted_proxies.client(peer, forwarded))
}

/// What is no text is no address either.
fn readable(value: &HeaderValue) -> &str {
    value.to_str().unwrap_or("unreadable")
}

/// Restores the status of an answer in none of the encodings that the caller accepts: it is sent as it
/// is. Compression would call it 406 when everything has been done and the body says so.
pub(crate) fn despite_encodings<B>(mut response: http::Response<B>) -> http::Response<B> {
    if let Some(Answered(status)) = response.extensions_mut().remove() {
        *response.status_mut() = status;
    }
    response
}

/// Headers that the inner layers set, but those that described the body which is replaced.
fn keep_headers(response: &mut Response, headers: &http::HeaderMap) {
    for (name, value) in headers {
        if !matches!(name.as_str(), "content-type" | "content-length") {
            response.headers_mut().insert(name.clone(), value.clone());
        }
    }
}

fn log(error: &ApiError, id: RequestId, operation: Option<&Operation>) {
    let operation = operation.map_or("none", |operation| operation.id);
    match error {
        ApiError::Refused(Refusal::Store(
            cause @ (StoreError::Unavailable(_) | StoreError::Failed(_) | StoreError::Corrupt(_)),
        )) => {
            tracing::error!(request_id = %id, operation, error = cause as &dyn std::error::Error, "the store failed");
        }
        ApiError::Refused(Refusal::Credentials(cause @ CredentialsError::Failed(_))) => {
            tracing::error!(request_id = %id, operation, error = cause as &dyn std::error::Error, "a credential failed");
        }
        ApiError::Internal => tracing::error!(request_id = %id, operation, "a request failed"),
        refused => tracing::debug!(request_id = %id, operation, ?refused, "refused"),
    }
}

fn measure(app: &App, began: Timestamp, operation: Option<&Operation>, response: &Response) {
    let operation = operation.map_or("none", |operation| operation.id);
    let status = response.status().as_u16();
    metrics::counter!("kalends_http_requests_total", "operation" => operation, "status" => status.to_string())
        .increment(1);
    // Micros of one request are far below the precision of a double.
    #[expect(clippy::cast_precision_loss, reason = "a request lasts far fewer than 2^52 microseconds")]
    let seconds = (app.now() - began).as_micros() as f64 / 1e6;
    metrics::histogram!("kalends_http_request_seconds", "operation" => operation).record(seconds);
}

/// What a handler that panicked answers.
#[expect(clippy::needless_pass_by_value, reason = "the signature that the panic layer calls")]
pub(crate) fn panicked(panic: Box<dyn Any + Send>) -> Response {
    let what = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    tracing::error!(what, "a handler panicked");
    ApiError::Internal.into_response()
}
