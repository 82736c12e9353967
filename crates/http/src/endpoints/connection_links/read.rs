//! `GET /v1/connection-links/{id}`

use axum::Json;
use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
};

/// Returns the state of a connection link.
///
/// A `completed` link has a `connection_id`: from then on, the busy times of the human calendar count. `declined`,
/// `expired` and `cancelled` are final too.
#[utoipa::path(
    get,
    path = "/v1/connection-links/{id}",
    operation_id = "getConnectionLink",
    tag = "Human calendars",
    params(("id" = String, Path, description = "The link, `cln_…`.")),
    responses((status = 200, description = "The link.", body = wire::ConnectionLink))
)]
pub(crate) async fn read(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
) -> Result<Json<wire::ConnectionLink>, ApiError> {
    Ok(Json(app.connection_link(&caller.0, &id.0).await?))
}
