//! `POST /v1/auth/verify-email/resend`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, NoBody},
    reply::Changed,
};

/// Mails you another link that proves your address, and voids the one before.
///
/// Five emails in an hour are allowed. If your address is proved already, nothing is sent. If another user has proved
/// it, the answer is 409, code `email_taken`.
#[utoipa::path(
    post,
    path = "/v1/auth/verify-email/resend",
    operation_id = "resendVerification",
    tag = "Console",
    responses((status = 202, description = "What happens next.", body = wire::ProofResent))
)]
pub(crate) async fn resend_proof(
    app: Service,
    caller: Caller,
    _: NoBody,
) -> Result<Changed<wire::ProofResent>, ApiError> {
    Ok(Changed(app.0.resend_proof(&caller.0).await?))
}
