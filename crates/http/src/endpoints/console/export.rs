//! `GET /v1/auth/export`

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use futures::{StreamExt as _, stream};
use http::{HeaderValue, header};
use kalends_wire as wire;

use crate::{Service, error::ApiError, extract::Caller, reply::JSON};

/// Exports everything that the organization has, as one JSON file.
///
/// 10 times an hour. Titles and descriptions are in the clear; of keys only the beginning is. The file is written as it is
/// read: where something fails on the way, the transfer breaks off.
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
    // What compresses the answer asks once more after its end.
    let pieces = pieces.fuse();
    let headers = [
        (header::CONTENT_TYPE, JSON),
        (header::CONTENT_DISPOSITION, name),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Ok((headers, Body::from_stream(pieces)).into_response())
}
