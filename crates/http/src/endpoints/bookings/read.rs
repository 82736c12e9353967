//! `GET /book/{slug}/bookings/{token}`

use axum::Json;
use kalends_wire as wire;

use crate::{Service, error::ApiError, extract::PathOf, reply::Fresh};

/// Returns a booking to its guest.
///
/// `token` is the token of `cancel_url` or of `reschedule_url`. The event is returned as it is now: if its owner
/// moves or deletes it in the calendar, the booking is moved or cancelled.
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
