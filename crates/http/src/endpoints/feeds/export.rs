//! `GET /v1/calendars/{id}/export.ics`

use axum::response::Response;
use http::{HeaderMap, HeaderValue, header};

use super::shown;
use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf, has},
};

/// The file holds what the key opens: nobody else may keep it, and nobody show it again unasked.
const CACHE: &str = "private, no-cache";

/// Exports a calendar as an iCalendar file.
///
/// What the calendar's feed shows, to be saved: its own events that are confirmed or tentative, the past ones included.
/// Imported events are not part of it; export them where they come from.
#[utoipa::path(
    get,
    path = "/v1/calendars/{id}/export.ics",
    operation_id = "exportCalendar",
    tag = "Calendars",
    params(("id" = String, Path, description = "The calendar, `cal_…`.")),
    responses(
        (status = 200, description = "The file, RFC 5545.", body = String, content_type = "text/calendar"),
        (status = 304, description = "The file that the caller has is the present one.")
    )
)]
pub(crate) async fn export(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let answer = app.export_calendar(&caller.0, &id.0, |etag| has(&headers, etag)).await?;
    let mut response = shown(answer, CACHE)?;
    // What was found under this identifier has no character that would need care.
    let name =
        HeaderValue::try_from(format!("attachment; filename=\"{}.ics\"", id.0)).map_err(|_| ApiError::Internal)?;
    response.headers_mut().insert(header::CONTENT_DISPOSITION, name);
    Ok(response)
}
