//! `GET /openapi.json`

use axum::Extension;
use bytes::Bytes;

use crate::{endpoints::Description, reply::Written};

/// Describes the API.
#[utoipa::path(
    get,
    path = "/openapi.json",
    operation_id = "getOpenApi",
    tag = "Service",
    responses((status = 200, description = "The description, OpenAPI 3.1.", body = serde_json::Value))
)]
pub(crate) async fn openapi(description: Extension<Description>) -> Written<Bytes> {
    Written(description.0.json())
}
