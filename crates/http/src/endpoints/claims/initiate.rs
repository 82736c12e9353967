//! `POST /v1/auth/claim/initiate`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody},
    reply::Changed,
};

/// Claims the organization that an agent signed up with an address, or that the operator made for it.
///
/// Mails a code there that works for 10 minutes and 10 attempts; a fresh one voids the one before. The answer is the
/// same for every address, whether or not there is something to claim, and after the fifth time in an hour, when
/// nothing is sent any more.
#[utoipa::path(
    post,
    path = "/v1/auth/claim/initiate",
    operation_id = "initiateClaim",
    tag = "Claims",
    request_body = wire::InitiateClaim,
    responses((status = 200, description = "What is told for every address.", body = wire::ClaimInitiated))
)]
pub(crate) async fn initiate(
    app: Service,
    caller: Caller,
    body: JsonBody<wire::InitiateClaim>,
) -> Result<Changed, ApiError> {
    Ok(Changed(app.initiate_claim(&caller.0, &body.0.parse()?).await?))
}
