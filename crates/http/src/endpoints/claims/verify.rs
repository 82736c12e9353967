//! `POST /v1/auth/claim/verify`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody},
    reply::Changed,
};

/// Proves a claim with the code of the mail.
///
/// A hold of 24 hours begins, and the organization's address is mailed how to revoke the claim. After the hold you own
/// the organization, and can switch to it. A code that is wrong, expired, used up, superseded or of no claim of yours
/// is one and the same 400; 409 code `claim_taken` is for a right code where another claim is on hold already.
#[utoipa::path(
    post,
    path = "/v1/auth/claim/verify",
    operation_id = "verifyClaim",
    tag = "Claims",
    request_body = wire::VerifyClaim,
    responses((status = 200, description = "The claim is on hold.", body = wire::AccountClaim))
)]
pub(crate) async fn verify(
    app: Service,
    caller: Caller,
    body: JsonBody<wire::VerifyClaim>,
) -> Result<Changed, ApiError> {
    let (claim, code) = body.0.parse()?;
    Ok(Changed(app.verify_claim(&caller.0, claim, &code).await?))
}
