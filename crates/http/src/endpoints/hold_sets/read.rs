//! `GET /v1/hold-sets/{id}`

use axum::Json;
use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf, QueryOf},
};

/// Returns a hold set.
///
/// The `status` of each event shows whether it is still a hold, was confirmed, or is cancelled because the hold was
/// released or expired. Deleted events are left out. If none is left: 404.
#[utoipa::path(
    get,
    path = "/v1/hold-sets/{id}",
    operation_id = "getHoldSet",
    tag = "Holds",
    params(("id" = String, Path, description = "The hold set, `hst_…`."), wire::ShowEvents),
    responses((status = 200, description = "The events.", body = wire::HoldSet))
)]
pub(crate) async fn read(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    query: QueryOf<wire::ShowEvents>,
) -> Result<Json<wire::HoldSet>, ApiError> {
    let caller = caller.0.showing(query.0.local());
    Ok(Json(app.hold_set(&caller, &id.0).await?))
}
