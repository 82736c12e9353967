//! `GET /book/assets/{name}`

use std::sync::{Arc, LazyLock};

use axum::response::Response;
use http::{HeaderMap, HeaderValue};
use kalends_web::{
    assets::{self, Asset},
    headers::ASSET,
};

use crate::{error::ApiError, extract::PathOf, files::File};

/// The files of the pages, by name.
static FILES: LazyLock<Vec<(&str, Arc<File>)>> = LazyLock::new(|| {
    let file = |asset: &'static Asset| {
        let file = File::new(HeaderValue::from_static(asset.content_type), asset.text, &ASSET);
        (asset.name.as_str(), Arc::new(file))
    };
    assets::ALL.iter().map(file).collect()
});

/// Returns a file that booking pages load.
///
/// The name changes with the content, so the file may be cached forever.
#[utoipa::path(
    get,
    path = "/book/assets/{name}",
    operation_id = "getBookingAsset",
    tag = "Booking pages",
    params(("name" = String, Path, description = "The file name, as in the pages.")),
    responses(
        (status = 200, description = "The file.", content(
            (String = "text/css"),
            (String = "text/javascript"),
            (String = "image/svg+xml")
        )),
        (status = 304, description = "The caller already has the current file.")
    )
)]
pub(crate) async fn asset(name: PathOf<String>, headers: HeaderMap) -> Result<Response, ApiError> {
    let (_, file) = FILES.iter().find(|(known, _)| *known == name.0).ok_or(ApiError::NoRoute)?;
    Ok(file.answer(&headers).await)
}
