//! `POST /v1/auth/second-factor/recovery-codes`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody},
    reply::Changed,
};

/// Replaces your recovery codes with ten new ones.
///
/// The code is one of the app, or a recovery code. If it is wrong, the answer is 400 with `param` `code`; after 10 wrong
/// codes in an hour, it is 429. If the second factor is off, the answer is 409, code `second_factor_off`. An email
/// reports the change.
#[utoipa::path(
    post,
    path = "/v1/auth/second-factor/recovery-codes",
    operation_id = "renewRecoveryCodes",
    tag = "Console",
    request_body = wire::SecondFactorCode,
    responses((status = 200, description = "Your new recovery codes.", body = wire::RecoveryCodes))
)]
pub(crate) async fn renew_recovery_codes(
    app: Service,
    caller: Caller,
    body: JsonBody<wire::SecondFactorCode>,
) -> Result<Changed<wire::RecoveryCodes>, ApiError> {
    Ok(Changed(app.renew_recovery_codes(&caller.0, &body.0.parse()?).await?))
}
