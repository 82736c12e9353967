//! `GET /v1/usage`

use axum::Json;
use kalends_wire as wire;

use crate::{Service, error::ApiError, extract::Caller};

/// Returns the organization's usage and the limits of its plan.
///
/// Events, API calls, webhook deliveries, availability queries and proposals are counted from the start of the UTC
/// month. Everything else is the number that exists now. This request counts as an API call too. If the service runs
/// on several nodes, the calls that each node has set aside in advance count as used.
#[utoipa::path(
    get,
    path = "/v1/usage",
    operation_id = "getUsage",
    tag = "Usage",
    responses((status = 200, description = "Usage and limits.", body = wire::Usage))
)]
pub(crate) async fn read(app: Service, caller: Caller) -> Result<Json<wire::Usage>, ApiError> {
    Ok(Json(wire::Usage::from(&app.usage(&caller.0).await?)))
}
