//! `POST /v1/auth/signup`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Anonymous, JsonBody},
    reply::Begun,
};

/// Signs a user up with an account, an organization, its key, and a session in a cookie.
///
/// The key is shown only in this answer. If another account has the address, the answer is 409, code `email_taken`. If
/// the address is on the waiting list, it is 403 `account_waitlisted`. A user who was activated from the waiting list
/// gets the organization from there. If an agent signed up with the address, its organization stays separate until it
/// is claimed. If sign-up is not open on this server, the answer is 403, code `signup_closed`; a person whom an
/// organization invited sends the `invitation_token` from the email, if the server allows that.
#[utoipa::path(
    post,
    path = "/v1/auth/signup",
    operation_id = "signUp",
    tag = "Console",
    request_body = wire::ConsoleSignUp,
    responses((status = 201, description = "The account and the organization's key.", body = wire::ConsoleSignedUp))
)]
pub(crate) async fn sign_up(
    app: Service,
    request: Anonymous,
    body: JsonBody<wire::ConsoleSignUp>,
) -> Result<Begun, ApiError> {
    let begun = app.console_sign_up(&request.0, body.0.parse()?).await?;
    Ok(Begun::new(&app, begun))
}
