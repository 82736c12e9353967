//! `POST /v1/auth/claim/initiate`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody},
    reply::Changed,
};

/// Claims an organization that was made for an address by an agent or by the operator.
///
/// A code is mailed to the address. It is valid for 10 minutes and 10 attempts, and a new code voids the previous one.
/// The answer is the same for every address, whether or not an organization can be claimed. After the fifth request in
/// an hour, the answer is still the same, but no more mail is sent.
#[utoipa::path(
    post,
    path = "/v1/auth/claim/initiate",
    operation_id = "initiateClaim",
    tag = "Claims",
    request_body = wire::InitiateClaim,
    responses((status = 200, description = "The same answer for every address.", body = wire::ClaimInitiated))
)]
pub(crate) async fn initiate(
    app: Service,
    caller: Caller,
    body: JsonBody<wire::InitiateClaim>,
) -> Result<Changed<wire::ClaimInitiated>, ApiError> {
    Ok(Changed(app.initiate_claim(&caller.0, &body.0.parse()?).await?))
}
