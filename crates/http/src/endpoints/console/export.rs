//! `GET /v1/auth/export`

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use futures::{StreamExt as _, stream};
use http::{HeaderValue, header};
use kalends_wire as wire;

use crate::{Service, error::ApiError, extract::Caller, reply::JSON};

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
    let export = app.0.export(&caller.0).await?;
    let name = format!("attachment; filename=\"kalends-export-{}.json\"", export.at.utc_date());
    let name = HeaderValue::from_str(&name).map_err(|_| ApiError::Internal)?;
    let pieces = stream::unfold(export.pieces, |mut pieces| async { Some((pieces.recv().await?, pieces)) });
    // The compression layer polls once more after the end.
    let pieces = pieces.fuse();
    let headers = [
        (header::CONTENT_TYPE, JSON),
        (header::CONTENT_DISPOSITION, name),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Ok((headers, Body::from_stream(pieces)).into_response())
}
