//! Errors in the form of RFC 6749, section 5.2.

use axum::response::{IntoResponse as _, Response};
use http::{HeaderValue, StatusCode, header};
use kalends_app::GrantError;
use serde::Serialize;

/// Tokens are secrets, so no cache keeps an answer with them (RFC 6749, section 5.1).
pub(crate) const UNCACHED: HeaderValue = HeaderValue::from_static("no-store");

#[derive(Serialize)]
struct Body {
    error: &'static str,
    error_description: String,
}

/// The answer to a client with that error.
pub(crate) fn answer(status: StatusCode, GrantError { code, description }: GrantError) -> Response {
    let body = axum::Json(Body { error: code, error_description: description });
    (status, [(header::CACHE_CONTROL, UNCACHED)], body).into_response()
}

/// The code of an error that is not one of OAuth. Clients that do not know it repeat their request later, and do not ask a
/// person again.
pub(crate) fn code_of(status: StatusCode) -> &'static str {
    match status {
        StatusCode::TOO_MANY_REQUESTS => "too_many_requests",
        StatusCode::SERVICE_UNAVAILABLE | StatusCode::CONFLICT | StatusCode::REQUEST_TIMEOUT => GrantError::UNAVAILABLE,
        status if status.is_server_error() => "server_error",
        _ => "invalid_request",
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::rate(429, "too_many_requests")]
    #[case::store(503, "temporarily_unavailable")]
    #[case::contended(409, "temporarily_unavailable")]
    #[case::late(408, "temporarily_unavailable")]
    #[case::failed(500, "server_error")]
    #[case::malformed(400, "invalid_request")]
    fn every_status_has_a_code(#[case] status: u16, #[case] code: &str) {
        assert_eq!(code_of(StatusCode::from_u16(status).unwrap()), code);
    }
}
