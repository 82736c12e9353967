//! `GET /book/assets/{name}`

use axum::response::Response;
use http::StatusCode;
use kalends_web::{assets, headers::ASSET};

use crate::{error::ApiError, extract::PathOf, pages::text_of};

/// Serves a file that booking pages refer to.
///
/// Its name changes with its content, so that it may be kept for ever.
#[utoipa::path(
    get,
    path = "/book/assets/{name}",
    operation_id = "getBookingAsset",
    tag = "Booking pages",
    params(("name" = String, Path, description = "The name, as pages have it.")),
    responses((status = 200, description = "The file.", content(
        (String = "text/css"),
        (String = "text/javascript"),
        (String = "image/svg+xml")
    )))
)]
pub(crate) async fn asset(name: PathOf<String>) -> Result<Response, ApiError> {
    let asset = assets::find(&name.0).ok_or(ApiError::NoRoute)?;
    Ok(text_of(StatusCode::OK, asset.content_type, asset.text, &ASSET))
}
