//! `GET /book/{slug}/bookings/{token}`

use axum::Json;
use kalends_wire as wire;

use super::Fresh;
use crate::{Service, error::ApiError, extract::PathOf};

/// Reads a booking, for its guest.
///
/// `token` is that of `cancel_url` or of `reschedule_url`, whichever it is. The event is told as it is now: whoever moves or
/// deletes it in the calendar moves or cancels the booking.
#[utoipa::path(
    get,
    path = "/book/{slug}/bookings/{token}",
    operation_id = "getBooking",
    tag = "Booking pages",
    params(
        ("slug" = String, Path, description = "The `slug` of the page."),
        ("token" = String, Path, description = "A token of the booking.")
    ),
    responses((status = 200, description = "The booking.", body = wire::GuestBooking))
)]
pub(crate) async fn read(
    app: Service,
    path: PathOf<(String, String)>,
) -> Result<Fresh<Json<wire::GuestBooking>>, ApiError> {
    let (slug, token) = path.0;
    let seen = app.booking(&slug, &token).await?;
    Ok(Fresh(Json(app.shown_booking(&seen))))
}
