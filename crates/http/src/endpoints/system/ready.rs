//! `GET /ready`

use axum::Json;
use kalends_wire as wire;

use crate::{Service, error::ApiError};

/// Tells whether the service can answer: whether its database does.
#[utoipa::path(
    get,
    path = "/ready",
    operation_id = "getReady",
    tag = "Service",
    responses((status = 200, description = "It can.", body = wire::Health))
)]
pub(crate) async fn ready(app: Service) -> Result<Json<wire::Health>, ApiError> {
    app.ready().await?;
    Ok(Json(wire::Health { status: "ok".into(), ts: app.now() }))
}
