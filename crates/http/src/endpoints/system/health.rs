//! `GET /health`

use axum::Json;
use kalends_wire as wire;

use crate::Service;

/// Tells that the service runs.
#[utoipa::path(
    get,
    path = "/health",
    operation_id = "getHealth",
    tag = "Service",
    responses((status = 200, description = "It does.", body = wire::Health))
)]
pub(crate) async fn health(app: Service) -> Json<wire::Health> {
    Json(wire::Health { status: "ok".into(), ts: app.now() })
}
