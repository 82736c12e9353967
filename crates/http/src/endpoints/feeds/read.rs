//! `GET /ical/{ical_token}.ics`

use axum::response::Response;
use http::HeaderMap;

use super::answer::feed_response;
use crate::{
    Service,
    error::ApiError,
    extract::{PathOf, has},
};

/// How long a feed may be cached.
const CACHE: &str = "public, max-age=300";

/// Returns a calendar's public feed.
///
/// The address is the calendar's `ical_url`, `/ical/<ical_token>.ics`. It needs no key, so treat the address like one.
/// The feed contains confirmed and tentative events with titles, descriptions and reminders. Series are listed with
/// their rule and its exceptions. Holds, cancelled events and imported events are left out. `If-None-Match` with the
/// `ETag` of the previous answer returns 304 if nothing has changed. An address that was replaced, or whose calendar
/// was deleted, gets 404. The limit is 120 requests per minute and address.
#[utoipa::path(
    get,
    path = "/ical/{feed}",
    operation_id = "getFeed",
    tag = "Calendars",
    params(("feed" = String, Path, description = "`<ical_token>.ics`, the last part of the calendar's `ical_url`.")),
    responses(
        (status = 200, description = "The calendar (RFC 5545).", body = String, content_type = "text/calendar"),
        (status = 304, description = "The caller already has the current feed.")
    )
)]
pub(crate) async fn read(app: Service, feed: PathOf<String>, headers: HeaderMap) -> Result<Response, ApiError> {
    let token = feed.0.strip_suffix(".ics").ok_or(ApiError::NoRoute)?;
    feed_response(app.feed(token, |etag| has(&headers, etag)).await?, CACHE)
}
