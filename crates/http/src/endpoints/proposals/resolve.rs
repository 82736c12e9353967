//! `POST /v1/scheduling/proposals/{id}/resolve`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, NoBody, PathOf},
    reply::Changed,
};

/// Resolves a proposal with the responses that there are.
///
/// The slot with the highest score becomes an event, unless whoever responded declined: then the proposal is cancelled.
/// Without any response: 409. A slot that has begun is never chosen: if all have begun, 409 `no_slot_left`. With
/// `skip_taken` slots that are taken are passed over; if none is left, 409 `slot_taken`. The proposal stays pending
/// then, as it does over the plan's events (429 `quota_exceeded`).
#[utoipa::path(
    post,
    path = "/v1/scheduling/proposals/{id}/resolve",
    operation_id = "resolveProposal",
    tag = "Proposals",
    params(("id" = String, Path, description = "The proposal, `spr_…`.")),
    responses((status = 200, description = "What became of it.", body = wire::Resolution))
)]
pub(crate) async fn resolve(app: Service, caller: Caller, id: PathOf<String>, _: NoBody) -> Result<Changed, ApiError> {
    Ok(Changed(app.resolve_proposal(&caller.0, &id.0).await?))
}
