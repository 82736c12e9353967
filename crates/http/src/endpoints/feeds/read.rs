//! `GET /ical/{ical_token}.ics`

use axum::response::Response;
use http::HeaderMap;

use super::shown;
use crate::{
    Service,
    error::ApiError,
    extract::{PathOf, has},
};

/// For how long anybody may keep a feed.
const CACHE: &str = "public, max-age=300";

/// Shows a calendar to whoever has the address of its feed.
///
/// The address is the calendar's `ical_url`, `/ical/<ical_token>.ics`; it needs no key, so keep it as one. Confirmed and
/// tentative events are shown, series with their rule and what differs from it, with titles, descriptions and reminders;
/// holds, cancelled events and imported ones are not. `If-None-Match` with the `ETag` of the answer before gives 304 while
/// nothing has changed. 404 for an address that was replaced, or whose calendar is deleted. 120 times a minute and address.
#[utoipa::path(
    get,
    path = "/ical/{feed}",
    operation_id = "getFeed",
    tag = "Calendars",
    params(("feed" = String, Path, description = "`<ical_token>.ics`, the last part of the calendar's `ical_url`.")),
    responses(
        (status = 200, description = "The calendar, RFC 5545.", body = String, content_type = "text/calendar"),
        (status = 304, description = "The feed that the caller has is the present one.")
    )
)]
pub(crate) async fn read(app: Service, feed: PathOf<String>, headers: HeaderMap) -> Result<Response, ApiError> {
    let token = feed.0.strip_suffix(".ics").ok_or(ApiError::NoRoute)?;
    shown(app.feed(token, |etag| has(&headers, etag)).await?, CACHE)
}
