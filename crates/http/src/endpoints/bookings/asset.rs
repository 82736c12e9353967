//! `GET /book/assets/{name}`

use std::sync::{Arc, LazyLock};

use axum::response::Response;
use http::{HeaderMap, HeaderValue};
use kalends_web::{
    assets::{self, Asset},
    headers::ASSET,
};

use crate::{error::ApiError, extract::PathOf, files::File};

/// The files of the pages, by their names.
static FILES: LazyLock<Vec<(&str, Arc<File>)>> = LazyLock::new(|| {
    let file = |asset: &'static Asset| {
        let file = File::new(HeaderValue::from_static(asset.content_type), asset.text, &ASSET);
        (asset.name.as_str(), Arc::new(file))
    };
    assets::ALL.iter().map(file).collect()
});

/// Serves a file that booking pages refer to.
///
/// Its name changes with its content, so that it may be kept for ever.
#[utoipa::path(
    get,
    path = "/book/assets/{name}",
    operation_id = "getBookingAsset",
    tag = "Booking pages",
    params(("name" = String, Path, description = "The name, as pages have it.")),
    responses(
        (status = 200, description = "The file.", content(
            (String = "text/css"),
            (String = "text/javascript"),
            (String = "image/svg+xml")
        )),
        (status = 304, description = "The file that the caller has is the present one.")
    )
)]
pub(crate) async fn asset(name: PathOf<String>, headers: HeaderMap) -> Result<Response, ApiError> {
    let (_, file) = FILES.iter().find(|(known, _)| *known == name.0).ok_or(ApiError::NoRoute)?;
    Ok(file.answer(&headers).await)
}
