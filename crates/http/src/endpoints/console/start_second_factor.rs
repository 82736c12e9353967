//! `POST /v1/auth/second-factor`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody},
    reply::Changed,
};

/// Makes a secret for your authenticator app.
///
/// Sign-ins do not need a code until you confirm the first one. It must arrive within 30 minutes. Another call replaces
/// the secret. If the second factor is on, the answer is 409, code `second_factor_on`. If you have no password, it is
/// 409, code `password_required`. If the password is wrong, it is 400 with this `param`; wrong passwords count as they
/// do for sign-ins.
#[utoipa::path(
    post,
    path = "/v1/auth/second-factor",
    operation_id = "startSecondFactor",
    tag = "Console",
    request_body = wire::StartSecondFactor,
    responses((status = 201, description = "The secret for the app.", body = wire::SecondFactorStarted))
)]
pub(crate) async fn start_second_factor(
    app: Service,
    caller: Caller,
    body: JsonBody<wire::StartSecondFactor>,
) -> Result<Changed<wire::SecondFactorStarted>, ApiError> {
    Ok(Changed(app.start_second_factor(&caller.0, body.0.parse()).await?))
}
