//! Wraps every request: its identifier, the envelope of its error, its log line and its metrics.

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

/// The client's address, according to the proxies.
pub(crate) const FORWARDED_FOR: &str = "x-forwarded-for";

/// What is known about a request before its route is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrival {
    pub id: RequestId,
    pub at: Timestamp,
    pub ip: Option<IpAddr>,
}

/// The operation and the requester. `enter` notes them, and the envelope reads them when it finishes an answer. An
/// answer that broke off (because of a deadline or a panic) has not come back through `enter`.
#[derive(Clone, Default)]
pub(crate) struct Known(Arc<Noted>);

#[derive(Default)]
struct Noted {
    operation: OnceLock<&'static Operation>,
    whom: OnceLock<Requester>,
}

/// Who sent the request.
pub(crate) enum Requester {
    /// The holder of a key.
    Caller(Arc<Caller>),
    /// The holder of a session.
    Session(Arc<Principal>),
}

impl Known {
    /// Notes the requester. Only the first call counts.
    pub(crate) fn note(&self, whom: Requester) {
        // A request passes `enter` only once.
        let _ = self.0.whom.set(whom);
    }

    /// Notes the operation. Only the first call counts.
    pub(crate) fn note_operation(&self, operation: &'static Operation) {
        let _ = self.0.operation.set(operation);
    }
}

/// The operation that answered, attached to the response.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AnsweredBy(pub &'static Operation);

/// The original status of the answer, attached to the response.
#[derive(Debug, Clone, Copy)]
struct Answered(StatusCode);

/// Gives the request its identifier and the response its final form. It ignores an identifier sent by the caller,
/// because that cannot be trusted.
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
    // A failure without a reason was produced by the framework.
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

/// Rejects requests that no route should see, and answers those that need no route.
fn admit(request: &Request, cors: &Cors) -> Result<Option<Response>, ApiError> {
    // The request of a tool call is created here, and has no head to check.
    if request.extensions().get::<Carried>().is_some() {
        return Ok(None);
    }
    head::check(request)?;
    Ok(cors.preflight(request.method(), request.headers()))
}

/// The client's address, as far as the proxies can be trusted.
fn address(app: &App, request: &Request) -> Option<IpAddr> {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>()?.0.ip();
    let forwarded: Vec<&str> = request.headers().get_all(FORWARDED_FOR).iter().map(readable).collect();
    Some(app.settings().trusted_proxies.client(peer, forwarded))
}

/// A header value that is not text is not an address either.
fn readable(value: &HeaderValue) -> &str {
    value.to_str().unwrap_or("unreadable")
}

/// Restores the status of an answer if the caller accepts none of our encodings. The answer is then sent unencoded.
/// The compression layer would change the status to 406 although the request succeeded.
pub(crate) fn despite_encodings<B>(mut response: http::Response<B>) -> http::Response<B> {
    if let Some(Answered(status)) = response.extensions_mut().remove() {
        *response.status_mut() = status;
    }
    response
}

/// Keeps the headers that the inner layers set, except those that describe the replaced body.
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
    // The microseconds of one request are exact in a double.
    #[expect(clippy::cast_precision_loss, reason = "a request lasts far fewer than 2^52 microseconds")]
    let seconds = (app.now() - began).as_micros() as f64 / 1e6;
    metrics::histogram!("kalends_http_request_seconds", "operation" => operation).record(seconds);
}

/// The answer if a handler panics.
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
