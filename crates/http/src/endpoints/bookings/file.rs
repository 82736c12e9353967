//! `GET /book/{slug}/bookings/{token}/event.ics`

use axum::response::{IntoResponse as _, Response};
use http::{HeaderValue, header};
use kalends_app::{Missing, Refusal};

use crate::{Service, error::ApiError, extract::PathOf};

/// Returns a booking as an iCalendar file.
///
/// Guests add it to their calendars. Calendar programs recognize a later invitation to the same booking by its `UID`. If
/// the booking is cancelled, the answer is 404.
#[utoipa::path(
    get,
    path = "/book/{slug}/bookings/{token}/event.ics",
    operation_id = "getBookingFile",
    tag = "Booking pages",
    params(
        ("slug" = String, Path, description = "The `slug` of the page."),
        ("token" = String, Path, description = "The token of `cancel_url` or `reschedule_url`.")
    ),
    responses((status = 200, description = "The file.", body = String, content_type = "text/calendar"))
)]
pub(crate) async fn file(app: Service, link: PathOf<(String, String)>) -> Result<Response, ApiError> {
    let (slug, token) = link.0;
    let seen = app.booking(&slug, &token).await?;
    let text = app.booking_file(&seen).ok_or_else(|| Refusal::missing(Missing::Booking, "at this address"))?;
    let mut response = text.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/calendar; charset=utf-8"));
    headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment; filename=\"booking.ics\""));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}
