//! `GET /v1/auth/me`

use axum::Json;
use kalends_wire as wire;

use crate::{Service, error::ApiError, extract::Caller};

/// Returns the signed-in user and the organization that the session is switched to.
#[utoipa::path(
    get,
    path = "/v1/auth/me",
    operation_id = "getMe",
    tag = "Console",
    responses((status = 200, description = "The user and the organization.", body = wire::Me))
)]
pub(crate) async fn me(app: Service, caller: Caller) -> Result<Json<wire::Me>, ApiError> {
    Ok(Json(app.me(&caller.0).await?))
}
