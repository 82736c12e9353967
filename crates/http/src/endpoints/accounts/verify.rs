//! `POST /v1/agent/verify`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody},
    reply::Changed,
};

/// Verifies the organization with the code from the email.
///
/// From then on, the limits of the free plan apply. The key stays the same. A code is valid for 10 minutes and 10
/// attempts. To get a new one, sign up again with the same address.
#[utoipa::path(
    post,
    path = "/v1/agent/verify",
    operation_id = "agentVerify",
    tag = "Accounts",
    request_body = wire::Verify,
    responses((status = 200, description = "The organization is verified.", body = wire::Verified))
)]
pub(crate) async fn verify(
    app: Service,
    caller: Caller,
    body: JsonBody<wire::Verify>,
) -> Result<Changed<wire::Verified>, ApiError> {
    Ok(Changed(app.verify(&caller.0, &body.0.parse()?).await?))
}
