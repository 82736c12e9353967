//! `GET /v1/auth/export`

use axum::response::Response;
use kalends_wire as wire;

use crate::{Service, error::ApiError, extract::Caller, reply::exported};

/// Exports all data of the organization as one JSON file.
///
/// The limit is 10 exports per hour. Titles and descriptions are in plain text. Only the first characters of keys are
/// included. The file is sent while the data is read from the database, so an error on the way aborts the transfer.
#[utoipa::path(
    get,
    path = "/v1/auth/export",
    operation_id = "exportAccount",
    tag = "Console",
    responses((status = 200, description = "The file.", body = wire::Export))
)]
pub(crate) async fn export(app: Service, caller: Caller) -> Result<Response, ApiError> {
    exported(app.export(&caller.0).await?)
}
