//! `POST /v1/auth/password/reset`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Anonymous, JsonBody},
    reply::Changed,
};

/// Sets the password of an account with the token of a mail.
///
/// It needs no credential but the token. Every session of the human ends with the next request, and the address counts as
/// proved. 400 with `param` `token` if the token is unknown, used, voided by a later one or more than an hour old.
#[utoipa::path(
    post,
    path = "/v1/auth/password/reset",
    operation_id = "resetPassword",
    tag = "Console",
    request_body = wire::ResetPassword,
    responses((status = 204, description = "The password is set; sign in with it."))
)]
pub(crate) async fn reset_password(
    app: Service,
    request: Anonymous,
    body: JsonBody<wire::ResetPassword>,
) -> Result<Changed, ApiError> {
    let (token, password) = body.0.parse()?;
    Ok(Changed(app.reset_password(&request.0, &token, password).await?))
}
