//! `GET /v1/runs/{name}`

use axum::Json;
use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf, QueryOf},
};

/// Returns a run with its writes, in order.
///
/// A run is all writes with the same `Kalends-Run` header by the same owner: the agent of an agent's key, or the
/// organization for all other callers. Writes are kept for 7 days.
#[utoipa::path(
    get,
    path = "/v1/runs/{name}",
    operation_id = "getRun",
    tag = "Runs",
    params(("name" = String, Path, description = "The name of the run, 1-64 visible ASCII characters."), wire::OwnerOfRun),
    responses((status = 200, description = "The run.", body = wire::Run))
)]
pub(crate) async fn read(
    app: Service,
    caller: Caller,
    name: PathOf<String>,
    query: QueryOf<wire::OwnerOfRun>,
) -> Result<Json<wire::Run>, ApiError> {
    Ok(Json(app.run(&caller.0, &name.0, query.0.agent_id.as_deref()).await?))
}
