//! `POST /v1/auth/signin`

use kalends_app::Entrant;
use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Anonymous, JsonBody},
    reply::Begun,
};

/// Signs a human in, with a session in a cookie and as a token.
///
/// The session lasts 12 hours and is in front of the organization that they have owned longest. A wrong address and a
/// wrong password are one and the same 401 `authentication_error`. 10 attempts a minute from one address, and 10 wrong
/// passwords a minute for one account from all addresses; then 429, whether the account exists or not.
#[utoipa::path(
    post,
    path = "/v1/auth/signin",
    operation_id = "signIn",
    tag = "Console",
    request_body = wire::SignIn,
    responses((status = 200, description = "The session's token, and whose it is.", body = wire::SignedIn))
)]
pub(crate) async fn sign_in(app: Service, request: Anonymous, body: JsonBody<wire::SignIn>) -> Result<Begun, ApiError> {
    let (email, password) = body.0.parse()?;
    let begun = app.0.sign_in(&request.0, &Entrant { email, password }).await?;
    Ok(Begun::new(&app, begun))
}
