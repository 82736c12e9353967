//! `GET /v1/scheduling/proposals/{id}`

use axum::Json;
use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
};

/// Returns a proposal with its slots and responses.
#[utoipa::path(
    get,
    path = "/v1/scheduling/proposals/{id}",
    operation_id = "getProposal",
    tag = "Proposals",
    params(("id" = String, Path, description = "The proposal, `spr_…`.")),
    responses((status = 200, description = "The proposal.", body = wire::Proposal))
)]
pub(crate) async fn read(app: Service, caller: Caller, id: PathOf<String>) -> Result<Json<wire::Proposal>, ApiError> {
    Ok(Json(app.proposal(&caller.0, &id.0).await?))
}
