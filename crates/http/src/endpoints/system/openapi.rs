//! `GET /openapi.json`

use axum::{Extension, response::Response};
use http::HeaderMap;

use crate::endpoints::Description;

/// Returns the OpenAPI description of the API.
#[utoipa::path(
    get,
    path = "/openapi.json",
    operation_id = "getOpenApi",
    tag = "Service",
    responses(
        (status = 200, description = "The description (OpenAPI 3.1).", body = serde_json::Value),
        (status = 304, description = "The caller already has the current description.")
    )
)]
pub(crate) async fn openapi(description: Extension<Description>, headers: HeaderMap) -> Response {
    description.file().answer(&headers).await
}
