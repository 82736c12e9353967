//! `POST /v1/auth/password/forgot`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Anonymous, JsonBody},
    reply::Changed,
};

/// Mails a link and a token with which the password of an account can be set: another, or a first one for a human who signs in
/// with a provider and has none.
///
/// The token works once, for an hour; a fresh one voids the one before. The answer is the same for every address, whether or not
/// there is an account, and after the fifth time in an hour, when nothing more is sent.
#[utoipa::path(
    post,
    path = "/v1/auth/password/forgot",
    operation_id = "forgotPassword",
    tag = "Console",
    request_body = wire::ForgotPassword,
    responses((status = 202, description = "The same for every address.", body = wire::PasswordForgotten))
)]
pub(crate) async fn forgot_password(
    app: Service,
    request: Anonymous,
    body: JsonBody<wire::ForgotPassword>,
) -> Result<Changed, ApiError> {
    Ok(Changed(app.0.forgot_password(&request.0, body.0.parse()?)))
}
