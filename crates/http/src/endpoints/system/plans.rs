//! `GET /v1/plans`

use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use kalends_kernel::base64url;
use kalends_wire as wire;
use sha2::{Digest, Sha256};

use crate::{Service, extract::has, reply::JSON};

/// How long the list may be cached. It changes with a release.
const CACHE: &str = "public, max-age=300, s-maxage=3600, stale-while-revalidate=86400";

/// Lists the plans.
#[utoipa::path(
    get,
    path = "/v1/plans",
    operation_id = "listPlans",
    tag = "Service",
    responses(
        (status = 200, description = "The plans.", body = wire::Plans),
        (status = 304, description = "The caller already has the current list.")
    )
)]
pub(crate) async fn plans(app: Service, headers: HeaderMap) -> Response {
    let plans = wire::Plans::public(app.settings().upgrade_url.as_deref());
    let body = serde_json::to_vec(&plans).unwrap_or_default();
    let tag = format!("\"{}\"", base64url(&Sha256::digest(&body)[..12]));
    let known = has(&headers, &tag);
    let mut response = if known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        ([(header::CONTENT_TYPE, JSON)], body).into_response()
    };
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(CACHE));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}
