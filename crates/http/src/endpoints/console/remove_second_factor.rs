//! `DELETE /v1/auth/second-factor`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody},
    reply::Changed,
};

/// Turns your second factor off, and voids your recovery codes.
///
/// The code is one of the app, or a recovery code. If it is wrong, the answer is 400 with `param` `code`; after 10 wrong
/// codes in an hour, it is 429. If the second factor is off, the answer is 409, code `second_factor_off`. An email
/// reports the change.
#[utoipa::path(
    delete,
    path = "/v1/auth/second-factor",
    operation_id = "removeSecondFactor",
    tag = "Console",
    request_body = wire::SecondFactorCode,
    responses((status = 204, description = "The second factor is off."))
)]
pub(crate) async fn remove_second_factor(
    app: Service,
    caller: Caller,
    body: JsonBody<wire::SecondFactorCode>,
) -> Result<Changed<()>, ApiError> {
    Ok(Changed(app.remove_second_factor(&caller.0, &body.0.parse()?).await?))
}
