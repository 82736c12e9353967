//! `POST /v1/auth/password`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody},
    reply::Begun,
};

/// Changes the password. Every session of the human ends with the next request, and a fresh one begins in the cookie.
///
/// 400 with `param` `current_password` where that is another. 10 attempts a minute from one address, sign-ins included.
#[utoipa::path(
    post,
    path = "/v1/auth/password",
    operation_id = "changePassword",
    tag = "Console",
    request_body = wire::ChangePassword,
    responses((status = 204, description = "The password is another; the cookie holds a fresh session."))
)]
pub(crate) async fn change_password(
    app: Service,
    caller: Caller,
    body: JsonBody<wire::ChangePassword>,
) -> Result<Begun, ApiError> {
    let (current, new) = body.0.parse()?;
    let begun = app.change_password(&caller.0, current, new).await?;
    Ok(Begun::new(&app, begun))
}
