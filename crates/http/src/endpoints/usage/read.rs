//! `GET /v1/usage`

use axum::Json;
use kalends_wire as wire;

use crate::{Service, error::ApiError, extract::Caller};

/// Tells what the organization uses, and what its plan grants.
///
/// Events, API calls, webhook deliveries, availability queries and proposals count since the start of the UTC month,
/// everything else counts what exists now. This request counts as an API call too. Where several nodes serve, what
/// each has set aside for the calls to come counts as used.
#[utoipa::path(
    get,
    path = "/v1/usage",
    operation_id = "getUsage",
    tag = "Usage",
    responses((status = 200, description = "Use and limits.", body = wire::Usage))
)]
pub(crate) async fn read(app: Service, caller: Caller) -> Result<Json<wire::Usage>, ApiError> {
    Ok(Json(wire::Usage::from(&app.usage(&caller.0).await?)))
}
