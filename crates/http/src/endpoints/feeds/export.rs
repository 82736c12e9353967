//! `GET /v1/calendars/{id}/export.ics`

use axum::response::Response;
use http::{HeaderMap, HeaderValue, header};
use kalends_app::FeedAnswer;

use super::answer::feed_response;
use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf, has},
};

/// The file contains private data: only the caller may cache it, and must revalidate it before each use.
const CACHE: &str = "private, no-cache";

/// Exports a calendar as an iCalendar file.
///
/// The file contains what the calendar's feed shows: its own confirmed and tentative events, including past ones.
/// Imported events are not included. Export them from their source.
#[utoipa::path(
    get,
    path = "/v1/calendars/{id}/export.ics",
    operation_id = "exportCalendar",
    tag = "Calendars",
    params(("id" = String, Path, description = "The calendar, `cal_…`.")),
    responses(
        (status = 200, description = "The file (RFC 5545).", body = String, content_type = "text/calendar"),
        (status = 304, description = "The caller already has the current file.")
    )
)]
pub(crate) async fn export(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    calendar_file(app.export_calendar(&caller.0, &id.0, |etag| has(&headers, etag)).await?, &id.0)
}

/// The answer as a file of the calendar with that identifier.
pub(crate) fn calendar_file(answer: FeedAnswer, id: &str) -> Result<Response, ApiError> {
    let mut response = feed_response(answer, CACHE)?;
    // This is an existing identifier, so it contains no characters that need escaping.
    let name = HeaderValue::try_from(format!("attachment; filename=\"{id}.ics\"")).map_err(|_| ApiError::Internal)?;
    response.headers_mut().insert(header::CONTENT_DISPOSITION, name);
    Ok(response)
}
