//! `PATCH /v1/auth/me`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody},
    reply::Changed,
};

/// Changes your name.
#[utoipa::path(
    patch,
    path = "/v1/auth/me",
    operation_id = "updateMe",
    tag = "Console",
    request_body = wire::UpdateMe,
    responses((status = 200, description = "The user and the organization.", body = wire::Me))
)]
pub(crate) async fn update_me(
    app: Service,
    caller: Caller,
    body: JsonBody<wire::UpdateMe>,
) -> Result<Changed<wire::Me>, ApiError> {
    Ok(Changed(app.update_me(&caller.0, body.0.parse()?).await?))
}
