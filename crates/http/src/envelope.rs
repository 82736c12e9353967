//! Wraps every request: its identifier and its span, the envelope of its error, its log line and its metrics.

use std::{
    any::Any,
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use axum::{
    extract::{ConnectInfo, Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, StatusCode};
use kalends_app::{App, Refusal, operations::Operation, ports::CredentialsError};
use kalends_kernel::{RequestId, StoreError};
use kalends_time::Timestamp;
use tracing::{Instrument as _, field};
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

use crate::{
    console::{self, places::PREVIEW_BOOKING_PAGE},
    cors::Cors,
    enter::describe_broken_off,
    error::ApiError,
    head, incoming,
    known::{AnsweredBy, Arrival, Carried, FORWARDED_FOR, Known, REQUEST_ID},
    pages::{Finished, Wanted},
    request_log::{Counted, Ending, RequestLog, Unfinished},
    security, traceparent,
};

/// The answer as the envelope left it, attached to the response.
#[derive(Clone)]
struct Answered {
    /// The original status.
    status: StatusCode,
    /// The line of the request, if requests are logged.
    line: Option<Unfinished>,
}

/// The state of the envelope.
#[derive(Clone)]
pub(crate) struct Desk {
    pub app: Arc<App>,
    /// Takes the line of each request.
    pub log: Option<Arc<dyn RequestLog>>,
}

/// Gives the request its identifier and its span, and the response its final form. It ignores an identifier sent by
/// the caller, because that cannot be trusted.
pub(crate) async fn envelope(State(desk): State<Desk>, request: Request, next: Next) -> Response {
    let at = desk.app.now();
    let id = RequestId::new(at, desk.app.entropy());
    // The level of a span decides only whether a filter drops it. No filter of levels may take the identifier away
    // from an error.
    let span = tracing::error_span!(
        "request",
        request_id = %id,
        operation = field::Empty,
        organization = field::Empty,
        key = field::Empty,
        status = field::Empty
    );
    if let Some(parent) = traceparent::parent(request.headers()) {
        // Fails if nobody listens to spans.
        let _ = span.set_parent(parent);
    }
    let known = Known::new(span.clone());
    wrap(desk, id, at, known, request, next).instrument(span).await
}

async fn wrap(
    Desk { app, log }: Desk,
    id: RequestId,
    at: Timestamp,
    known: Known,
    mut request: Request,
    next: Next,
) -> Response {
    // A tool call has no line of its own: that of its message names it. Neither has a request that was approved.
    let log = log.filter(|_| request.extensions().get::<Carried>().is_none());
    let ending = log.map(|log| Ending::new(&log, id, request.method(), &known));
    let ip = address(&app, &request);
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
    let operation = operation.or_else(|| known.operation());
    let failed = response.status().is_client_error() || response.status().is_server_error();
    let is_finished = response.extensions_mut().remove::<Finished>().is_some();
    let error = response.extensions_mut().remove::<Arc<ApiError>>();
    if let Some(error) = error.as_ref().filter(|_| is_finished) {
        report(error, id, operation);
    }
    // A failure without a reason was produced by the framework.
    let error = error.or_else(|| failed.then(|| Arc::new(ApiError::of_status(response.status()))));
    if let Some(error) = error.filter(|_| !is_finished) {
        report(&error, id, operation);
        let headers = std::mem::take(response.headers_mut());
        response = match &page {
            Some(page) if page.is_at(PREVIEW_BOOKING_PAGE) => console::failed_preview(&error, id),
            Some(page) => page.render(&error, id, &app.settings().base_url),
            None => error.render(&app, id, operation),
        };
        keep_headers(&mut response, &headers);
    }
    if let Some(requester) = known.requester() {
        describe_broken_off(&app, requester, at, response.headers_mut());
    }
    cors.describe(operation, response.headers_mut());
    security::describe(response.headers_mut());
    if let Ok(value) = HeaderValue::from_str(&id.to_string()) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    measure(&app, at, operation, &response);
    let status = response.status();
    known.span().record("status", status.as_u16());
    let line = ending.and_then(|ending| ending.answered(status, operation));
    response.extensions_mut().insert(Answered { status, line });
    response
}

/// Rejects requests that no route should see, and answers those that need no route.
fn admit(request: &Request, cors: &Cors) -> Result<Option<Response>, ApiError> {
    // The request of a tool call or of an approval is created here, and has no head to check.
    if request.extensions().get::<Carried>().is_some() {
        return Ok(None);
    }
    head::check(request)?;
    Ok(cors.preflight(request.method(), request.uri().path(), request.headers()))
}

/// The client's address, as far as the proxies can be trusted.
fn address(app: &App, request: &Request) -> Option<IpAddr> {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>()?.0.ip();
    let forwarded: Vec<&str> = request.headers().get_all(FORWARDED_FOR).iter().map(readable).collect();
    Some(app.settings().trusted_proxies.client(peer, forwarded))
}

/// The value as text. A value that is not text is not an address either, so it becomes a word.
fn readable(value: &HeaderValue) -> &str {
    value.to_str().unwrap_or("unreadable")
}

/// Finishes an answer after its compression. Restores its status if the caller accepts none of our encodings: the
/// answer is then sent unencoded, and the compression layer would change the status to 406 although the request
/// succeeded. The body carries the line of the request until the body ends.
pub(crate) fn finish<B>(mut response: http::Response<B>) -> http::Response<Counted<B>> {
    let answered = response.extensions_mut().remove::<Answered>();
    let line = answered.and_then(|Answered { status, line }| {
        *response.status_mut() = status;
        line
    });
    response.map(|body| Counted::new(body, line))
}

/// Keeps the headers that the inner layers set, except those that describe the replaced body.
fn keep_headers(response: &mut Response, headers: &http::HeaderMap) {
    for (name, value) in headers {
        if !matches!(name.as_str(), "content-type" | "content-length") {
            response.headers_mut().insert(name.clone(), value.clone());
        }
    }
}

fn report(error: &ApiError, id: RequestId, operation: Option<&Operation>) {
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
    kalends_metrics::HTTP_REQUESTS.with_label_values(&[operation, response.status().as_str()]).inc();
    // The microseconds of one request are exact in a double.
    #[expect(clippy::cast_precision_loss, reason = "a request lasts far fewer than 2^52 microseconds")]
    let seconds = (app.now() - began).as_micros() as f64 / 1e6;
    kalends_metrics::HTTP_REQUEST_SECONDS.with_label_values(&[operation]).observe(seconds);
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
