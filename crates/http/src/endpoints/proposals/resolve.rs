//! `POST /v1/scheduling/proposals/{id}/resolve`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, NoBody, PathOf},
    reply::Changed,
};

/// Resolves a proposal with the responses so far.
///
/// The slot with the highest score becomes an event. If everyone who responded declined, the proposal is cancelled. If
/// nobody has responded, the answer is 409. A slot that has started is never chosen. If all have started, the answer is
/// 409 `no_slot_left`. If none has the acceptances that `min_accepts` requires, it is 409 `too_few_accepts`.
/// With `skip_taken`, and on a calendar that refuses conflicts, slots that are taken are skipped. If none is left, the answer is 409 `slot_taken`, and the proposal stays pending. It also stays pending if
/// the plan's events are used up. The answer is then 429 `quota_exceeded`.
#[utoipa::path(
    post,
    path = "/v1/scheduling/proposals/{id}/resolve",
    operation_id = "resolveProposal",
    tag = "Proposals",
    params(("id" = String, Path, description = "The proposal, `spr_…`.")),
    responses((status = 200, description = "The outcome.", body = wire::Resolution))
)]
pub(crate) async fn resolve(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    _: NoBody,
) -> Result<Changed<wire::Resolution>, ApiError> {
    Ok(Changed(app.resolve_proposal(&caller.0, &id.0).await?))
}
