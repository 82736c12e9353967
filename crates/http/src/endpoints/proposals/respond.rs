//! `POST /v1/scheduling/proposals/{id}/respond`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody, PathOf},
    reply::Changed,
};

/// Records a participant's response to a proposal.
///
/// Each participant responds once. A second response gets 409 `duplicate_response`. The last missing response resolves
/// the proposal at once, and the answer shows the outcome. If no slot can be confirmed, the proposal stays pending with
/// all of its responses, and `notices` says why: `too_few_accepts`, `slot_taken` or `no_slot_left`.
/// If the plan's events are used up, the answer is 429 `quota_exceeded`, and the response is not recorded.
///
/// With the placement `all`, `calendar_id` is the participant's own calendar for its event. It is required if the agent
/// has several calendars and does not decline.
#[utoipa::path(
    post,
    path = "/v1/scheduling/proposals/{id}/respond",
    operation_id = "respondToProposal",
    tag = "Proposals",
    params(("id" = String, Path, description = "The proposal, `spr_…`.")),
    request_body = wire::RespondToProposal,
    responses((status = 200, description = "The proposal, with the response.", body = wire::Proposal))
)]
pub(crate) async fn respond(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    body: JsonBody<wire::RespondToProposal>,
) -> Result<Changed<wire::Proposal>, ApiError> {
    Ok(Changed(app.respond(&caller.0, &id.0, body.0.parse()?).await?))
}
