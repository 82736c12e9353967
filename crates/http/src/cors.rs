//! CORS. Pages of origins that the operator names may read every answer. Pages of other origins may read public answers.
//! Cookies are never accepted.

use axum::{
    body::Body,
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use kalends_app::operations::Operation;

/// What scripts may send.
const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE");
/// The headers that scripts may send, besides those that every page may.
const SENT: HeaderValue = HeaderValue::from_static(
    "authorization, content-type, idempotency-key, if-match, if-none-match, mcp-protocol-version",
);
/// The headers of answers that scripts may read, besides those that every page may.
const READ: HeaderValue = HeaderValue::from_static(
    "etag, idempotency-replayed, location, ratelimit, ratelimit-policy, retry-after, service-terms-upgrade-required, \
     x-request-id, x-service-plan",
);
/// For how many seconds a browser may keep the answer to a preflight.
const KEPT: HeaderValue = HeaderValue::from_static("600");
const ORIGIN: HeaderValue = HeaderValue::from_static("origin");
const ANY: HeaderValue = HeaderValue::from_static("*");

/// The origin of one request, judged.
#[derive(Debug)]
pub(crate) struct Cors {
    /// The origin, if it is one that the operator names.
    allowed: Option<HeaderValue>,
    /// Whether answers differ by origin at all.
    varies: bool,
}

impl Cors {
    /// Judges the request's `Origin` by the origins that the operator names.
    pub(crate) fn of(named: &[String], headers: &HeaderMap) -> Self {
        if named.is_empty() {
            return Self { allowed: None, varies: false };
        }
        let mut origins = headers.get_all(header::ORIGIN).iter();
        let origin = origins.next().filter(|_| origins.next().is_none());
        let allowed = origin.filter(|origin| named.iter().any(|named| named.as_bytes() == origin.as_bytes()));
        Self { allowed: allowed.cloned(), varies: true }
    }

    /// The answer to a preflight of an origin that is allowed; `None` for any other request.
    pub(crate) fn preflight(&self, method: &Method, headers: &HeaderMap) -> Option<Response> {
        let asks = method == Method::OPTIONS && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
        if !asks || self.allowed.is_none() {
            return None;
        }
        let mut response = (StatusCode::NO_CONTENT, Body::empty()).into_response();
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, SENT);
        headers.insert(header::ACCESS_CONTROL_MAX_AGE, KEPT);
        Some(response)
    }

    /// Says on an answer who may read it.
    pub(crate) fn describe(&self, operation: Option<&Operation>, headers: &mut HeaderMap) {
        // A public answer is the same for every origin, so shared caches may keep it.
        let public =
            operation.is_some_and(|operation| operation.is_public() && !operation.writes() && !operation.redirects());
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
