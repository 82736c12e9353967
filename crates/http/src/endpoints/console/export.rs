//! `GET /v1/auth/export`

use axum::response::Response;
use kalends_wire as wire;

use crate::{Service, endpoints::account::export::file, error::ApiError, extract::Caller};

/// Exports everything that the organization has, as `GET /v1/account/export` does for its keys.
///
/// 10 times an hour, by keys and sessions together.
#[utoipa::path(
    get,
    path = "/v1/auth/export",
    operation_id = "exportFromConsole",
    tag = "Console",
    responses((status = 200, description = "The file.", body = wire::Export))
)]
pub(crate) async fn export(app: Service, caller: Caller) -> Result<Response, ApiError> {
    file(app.0.export(&caller.0).await?)
}
