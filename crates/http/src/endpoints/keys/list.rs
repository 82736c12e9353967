//! `GET /v1/keys`

use axum::Json;
use kalends_wire as wire;

use crate::{Service, error::ApiError, extract::Caller};

/// Lists the agent-scoped keys, oldest first.
///
/// The keys themselves are not shown. Plans limit their number, so the list has no pages.
#[utoipa::path(
    get,
    path = "/v1/keys",
    operation_id = "listScopedKeys",
    tag = "Keys",
    responses((status = 200, description = "The keys in force.", body = wire::ScopedKeys))
)]
pub(crate) async fn list(app: Service, caller: Caller) -> Result<Json<wire::ScopedKeys>, ApiError> {
    Ok(Json(app.list_keys(&caller.0).await?.into()))
}
