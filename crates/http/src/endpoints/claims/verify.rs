//! `POST /v1/auth/claim/verify`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody},
    reply::Changed,
};

/// Proves a claim with the code from the email.
///
/// A hold of 24 hours starts, and the organization's address gets an email that explains how to revoke the claim. After
/// the hold, you own the organization and can switch to it. A code that is wrong, expired, used up or superseded, or
/// that belongs to no claim of yours, always gets the same 400. If the code is right but another claim is on hold
/// already, the answer is 409, code `claim_taken`.
#[utoipa::path(
    post,
    path = "/v1/auth/claim/verify",
    operation_id = "verifyClaim",
    tag = "Claims",
    request_body = wire::VerifyClaim,
    responses((status = 200, description = "The held claim.", body = wire::AccountClaim))
)]
pub(crate) async fn verify(
    app: Service,
    caller: Caller,
    body: JsonBody<wire::VerifyClaim>,
) -> Result<Changed<wire::AccountClaim>, ApiError> {
    let (claim, code) = body.0.parse()?;
    Ok(Changed(app.verify_claim(&caller.0, claim, &code).await?))
}
