//! CORS. Pages on origins that the operator configured may read every answer. Pages on other origins may read only
//! public answers, and call the endpoints of OAuth that clients in a page call. Neither may read answers to requests with
//! cookies.

use axum::{
    body::Body,
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use kalends_app::operations::{self, Operation};

/// The methods that scripts may use.
const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE");
/// The headers that scripts may send, in addition to those that are always allowed.
const SENT: HeaderValue = HeaderValue::from_static(
    "authorization, content-type, idempotency-key, if-match, if-none-match, kalends-run, mcp-protocol-version",
);
/// The headers that scripts may read, in addition to those that are always readable.
const READ: HeaderValue = HeaderValue::from_static(
    "etag, idempotency-replayed, kalends-dry-run, location, ratelimit, ratelimit-policy, retry-after, \
     service-terms-upgrade-required, www-authenticate, x-request-id, x-service-plan",
);
/// How long a browser may cache the answer to a preflight, in seconds.
const KEPT: HeaderValue = HeaderValue::from_static("600");
const ORIGIN: HeaderValue = HeaderValue::from_static("origin");
const ANY: HeaderValue = HeaderValue::from_static("*");

/// The result of checking the origin of a request.
#[derive(Debug)]
pub(crate) struct Cors {
    /// The origin, if the operator configured it.
    allowed: Option<HeaderValue>,
    /// Whether answers depend on the origin at all.
    varies: bool,
}

impl Cors {
    /// Checks the request's `Origin` against the configured origins.
    pub(crate) fn of(named: &[String], headers: &HeaderMap) -> Self {
        if named.is_empty() {
            return Self { allowed: None, varies: false };
        }
        let mut origins = headers.get_all(header::ORIGIN).iter();
        let origin = origins.next().filter(|_| origins.next().is_none());
        let allowed = origin.filter(|origin| named.iter().any(|named| named.as_bytes() == origin.as_bytes()));
        Self { allowed: allowed.cloned(), varies: true }
    }

    /// Answers a preflight from an allowed origin, or for an endpoint that pages of any origin may call. Returns `None` for
    /// any other request.
    pub(crate) fn preflight(&self, method: &Method, path: &str, headers: &HeaderMap) -> Option<Response> {
        let asked = headers.get(header::ACCESS_CONTROL_REQUEST_METHOD).filter(|_| method == Method::OPTIONS)?;
        let is_for_any_page =
            asked.to_str().is_ok_and(|asked| operations::find(asked, path).is_some_and(Operation::is_for_any_page));
        if !is_for_any_page && self.allowed.is_none() {
            return None;
        }
        let mut response = (StatusCode::NO_CONTENT, Body::empty()).into_response();
        let headers = response.headers_mut();
        if is_for_any_page {
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, ANY);
        }
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, SENT);
        headers.insert(header::ACCESS_CONTROL_MAX_AGE, KEPT);
        Some(response)
    }

    /// Sets the CORS headers of an answer.
    pub(crate) fn describe(&self, operation: Option<&Operation>, headers: &mut HeaderMap) {
        // A public answer is the same for every origin, so shared caches may store it.
        let public = operation.is_some_and(|operation| {
            operation.is_for_any_page() || operation.is_public() && !operation.writes() && !operation.redirects()
        });
        if !public && self.varies {
            headers.append(header::VARY, ORIGIN);
        }
        let allowed = if public { Some(ANY) } else { self.allowed.clone() };
        if let Some(allowed) = allowed {
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, allowed);
            headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, READ);
        }
    }
}
