//! `POST /v1/auth/second-factor/confirm`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody},
    reply::Changed,
};

/// Turns your second factor on with the first code of the app, and returns ten recovery codes.
///
/// From then on, a sign-in with your password needs a code of the app or a recovery code. A sign-in with a provider
/// needs none. A recovery code works once. If the code is wrong, the answer is 400 with `param` `code`; after 10 wrong
/// codes in an hour, it is 429. If no first code is awaited, the answer is 409, code `second_factor_off`. All of your
/// other sessions end. An email reports the change.
#[utoipa::path(
    post,
    path = "/v1/auth/second-factor/confirm",
    operation_id = "confirmSecondFactor",
    tag = "Console",
    request_body = wire::SecondFactorCode,
    responses((status = 200, description = "The second factor is on. These are your recovery codes.", body = wire::RecoveryCodes))
)]
pub(crate) async fn confirm_second_factor(
    app: Service,
    caller: Caller,
    body: JsonBody<wire::SecondFactorCode>,
) -> Result<Changed<wire::RecoveryCodes>, ApiError> {
    Ok(Changed(app.confirm_second_factor(&caller.0, &body.0.parse()?).await?))
}
