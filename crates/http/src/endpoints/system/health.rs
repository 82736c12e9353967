//! `GET /health`

use axum::Json;
use kalends_wire as wire;

use crate::Service;

/// Checks that the service is running.
#[utoipa::path(
    get,
    path = "/health",
    operation_id = "getHealth",
    tag = "Service",
    responses((status = 200, description = "The service is running.", body = wire::Health))
)]
pub(crate) async fn health(app: Service) -> Json<wire::Health> {
    Json(wire::Health { status: "ok".into(), ts: app.now() })
}
