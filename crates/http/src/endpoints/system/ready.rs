//! `GET /ready`

use axum::Json;
use kalends_wire as wire;

use crate::{Service, error::ApiError};

/// Checks that the service can answer, which includes its database.
#[utoipa::path(
    get,
    path = "/ready",
    operation_id = "getReady",
    tag = "Service",
    responses((status = 200, description = "The service can answer.", body = wire::Health))
)]
pub(crate) async fn ready(app: Service) -> Result<Json<wire::Health>, ApiError> {
    app.ready().await?;
    Ok(Json(wire::Health { status: "ok".into(), ts: app.now() }))
}
