//! `POST /v1/auth/password`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody},
    reply::Begun,
};

/// Changes your password. All of your sessions end, and a new one starts in the cookie.
///
/// The old sessions end with their next request. If `current_password` is wrong, the answer is 400 with this `param`.
/// The limit is 10 attempts per minute and address, including sign-ins.
#[utoipa::path(
    post,
    path = "/v1/auth/password",
    operation_id = "changePassword",
    tag = "Console",
    request_body = wire::ChangePassword,
    responses((status = 204, description = "The password was changed. The cookie contains a new session."))
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
