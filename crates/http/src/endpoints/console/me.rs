//! `GET /v1/auth/me`

use axum::Json;
use kalends_wire as wire;

use crate::{Service, error::ApiError, extract::Caller};

/// Tells who is signed in, and in front of which organization.
#[utoipa::path(
    get,
    path = "/v1/auth/me",
    operation_id = "getMe",
    tag = "Console",
    responses((status = 200, description = "The human and the organization.", body = wire::Me))
)]
pub(crate) async fn me(app: Service, caller: Caller) -> Result<Json<wire::Me>, ApiError> {
    Ok(Json(app.me(&caller.0).await?))
}
