//! `POST /v1/scheduling/proposals`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody},
    reply::Changed,
};

/// Creates a proposal with candidate slots.
///
/// Each participant responds once. The last response resolves the proposal, and so does `resolve`. The slot with the
/// highest score becomes an event. The score is the slot's weight, plus 1.0 for each acceptance and 0.3 for each
/// counter-proposal that names the slot. If scores are equal, the earliest slot wins.
///
/// With `min_accepts`, a slot needs that many acceptances. With the placement `all`, the organizer and every participant
/// that did not decline get an event, all in one write: `confirmed` for those that accepted the slot, else `tentative`.
///
/// With `hold_slots`, the slots are reserved while the proposal is pending: availability shows them as busy, and nobody
/// else can hold or book them. If one of them is taken already, the answer is 409 `slot_taken`. Proposals require a
/// paid plan. On other plans, the answer is 403 `plan_required`.
#[utoipa::path(
    post,
    path = "/v1/scheduling/proposals",
    operation_id = "createProposal",
    tag = "Proposals",
    request_body = wire::CreateProposal,
    responses((status = 201, description = "The pending proposal, with its slots.", body = wire::Proposal))
)]
pub(crate) async fn create(
    app: Service,
    caller: Caller,
    body: JsonBody<wire::CreateProposal>,
) -> Result<Changed<wire::Proposal>, ApiError> {
    Ok(Changed(app.create_proposal(&caller.0, body.0.parse()?).await?))
}
