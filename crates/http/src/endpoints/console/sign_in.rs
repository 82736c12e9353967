//! `POST /v1/auth/signin`

use kalends_app::Entrant;
use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Anonymous, JsonBody},
    reply::Begun,
};

/// Signs a user in. The session is returned in a cookie and as a token.
///
/// The session lasts 12 hours and starts in the organization that the user has belonged to longest. A wrong address and a
/// wrong password get the same 401 `authentication_error`. The limits are 10 attempts per minute and address, and 10
/// wrong passwords per minute and account from all addresses. Beyond them, the answer is 429, whether or not the
/// account exists.
///
/// If the user's second factor is on, a right password needs a `code` too. Without one, the answer is 401, code
/// `second_factor_required`; with a wrong one, code `second_factor_wrong`. After 10 wrong codes in an hour, it is 429.
#[utoipa::path(
    post,
    path = "/v1/auth/signin",
    operation_id = "signIn",
    tag = "Console",
    request_body = wire::SignIn,
    responses((status = 200, description = "The session's token, and its user.", body = wire::SignedIn))
)]
pub(crate) async fn sign_in(app: Service, request: Anonymous, body: JsonBody<wire::SignIn>) -> Result<Begun, ApiError> {
    let (email, password, code) = body.0.parse()?;
    let begun = app.0.sign_in(&request.0, &Entrant { email, password, code }).await?;
    Ok(Begun::new(&app, begun))
}
