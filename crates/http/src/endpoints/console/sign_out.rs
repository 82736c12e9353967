//! `POST /v1/auth/signout`

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, NoBody},
    reply::Ended,
};

/// Signs out. The session ends with its next request, and the cookie is removed.
#[utoipa::path(
    post,
    path = "/v1/auth/signout",
    operation_id = "signOut",
    tag = "Console",
    responses((status = 204, description = "The session was ended."))
)]
pub(crate) async fn sign_out(app: Service, caller: Caller, _: NoBody) -> Result<Ended, ApiError> {
    let answer = app.sign_out(&caller.0).await?;
    Ok(Ended::new(&app, answer))
}
