//! `GET /v1/auth/terms/current`

use axum::Json;
use http::{HeaderName, header};
use kalends_wire as wire;

use crate::Service;

/// Returns the terms in force.
#[utoipa::path(
    get,
    path = "/v1/auth/terms/current",
    operation_id = "getCurrentTerms",
    tag = "Accounts",
    responses((status = 200, description = "The terms.", body = wire::Terms))
)]
pub(crate) async fn terms(app: Service) -> ([(HeaderName, &'static str); 1], Json<wire::Terms>) {
    ([(header::CACHE_CONTROL, "public, max-age=60")], Json(wire::Terms::from(&app.settings().terms)))
}
