//! `POST /v1/scheduling/proposals/{id}/cancel`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, NoBody, PathOf},
    reply::Changed,
};

/// Cancels a proposal.
///
/// This cannot be undone. A proposal that has ended cannot change.
#[utoipa::path(
    post,
    path = "/v1/scheduling/proposals/{id}/cancel",
    operation_id = "cancelProposal",
    tag = "Proposals",
    params(("id" = String, Path, description = "The proposal, `spr_…`.")),
    responses((status = 200, description = "The proposal was cancelled.", body = wire::Resolution,
        example = json!({ "status": "cancelled" })))
)]
pub(crate) async fn cancel(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    _: NoBody,
) -> Result<Changed<wire::Resolution>, ApiError> {
    Ok(Changed(app.cancel_proposal(&caller.0, &id.0).await?))
}
