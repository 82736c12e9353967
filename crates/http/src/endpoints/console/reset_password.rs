//! `POST /v1/auth/password/reset`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Anonymous, JsonBody},
    reply::Changed,
};

/// Sets the password of an account with the token from an email.
///
/// No other credential is needed. All of the user's sessions end with their next request, and the address counts as
/// verified. If the token is unknown, used, voided by a later one or older than an hour, the answer is 400 with `param`
/// `token`.
#[utoipa::path(
    post,
    path = "/v1/auth/password/reset",
    operation_id = "resetPassword",
    tag = "Console",
    request_body = wire::ResetPassword,
    responses((status = 204, description = "The password was set. Sign in with it."))
)]
pub(crate) async fn reset_password(
    app: Service,
    request: Anonymous,
    body: JsonBody<wire::ResetPassword>,
) -> Result<Changed<()>, ApiError> {
    let (token, password) = body.0.parse()?;
    Ok(Changed(app.reset_password(&request.0, &token, password).await?))
}
