//! `POST /v1/scheduling/proposals`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody},
    reply::Changed,
};

/// Offers agents some times.
///
/// Each participant responds once. The last response resolves the proposal, and so does `resolve`: the slot with the
/// highest score becomes an event. A score is the slot's weight, 1.0 more for each acceptance and 0.3 for each
/// counter-proposal that names the slot; of equal ones the earliest wins.
///
/// With `hold_slots` the times are kept free while the proposal is pending: availability shows them taken and nobody else
/// can hold or book them. Where one is taken already: 409 `slot_taken`. Proposals need a paid plan: else 403
/// `plan_required`.
#[utoipa::path(
    post,
    path = "/v1/scheduling/proposals",
    operation_id = "createProposal",
    tag = "Proposals",
    request_body = wire::CreateProposal,
    responses((status = 201, description = "The proposal, pending, with the identifiers of its slots.", body = wire::Proposal))
)]
pub(crate) async fn create(
    app: Service,
    caller: Caller,
    body: JsonBody<wire::CreateProposal>,
) -> Result<Changed, ApiError> {
    Ok(Changed(app.create_proposal(&caller.0, body.0.parse()?).await?))
}
