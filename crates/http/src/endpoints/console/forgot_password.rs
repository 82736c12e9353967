//! `POST /v1/auth/password/forgot`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Anonymous, JsonBody},
    reply::Changed,
};

/// Mails a link with a token that sets the password of an account.
///
/// A user who signs in with a provider and has no password can set a first one this way.
///
/// The token is valid once, for one hour. A new token voids the previous one. The answer is the same for every address,
/// whether or not there is an account. After the fifth request in an hour, the answer is still the same, but no more
/// mail is sent.
#[utoipa::path(
    post,
    path = "/v1/auth/password/forgot",
    operation_id = "forgotPassword",
    tag = "Console",
    request_body = wire::ForgotPassword,
    responses((status = 202, description = "The same answer for every address.", body = wire::PasswordForgotten))
)]
pub(crate) async fn forgot_password(
    app: Service,
    request: Anonymous,
    body: JsonBody<wire::ForgotPassword>,
) -> Result<Changed<wire::PasswordForgotten>, ApiError> {
    Ok(Changed(app.0.forgot_password(&request.0, body.0.parse()?)))
}
