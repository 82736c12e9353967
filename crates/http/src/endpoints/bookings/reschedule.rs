//! `POST /book/{slug}/bookings/{token}/move`

use kalends_wire as wire;

use super::Fresh;
use crate::{
    Service,
    error::ApiError,
    extract::{Anonymous, JsonBody, PathOf},
    reply::Changed,
};

/// Moves a booking to another slot, as its guest.
///
/// As for a new booking: a slot that is taken is 409 `slot_taken`, what is no slot of the page 400. Its own time is not in its
/// way. The guest gets a mail; both links stay good. Once the event has begun, or was cancelled: 409 `conflict`, code
/// `booking_over`. 404 where the page is closed.
#[utoipa::path(
    post,
    path = "/book/{slug}/bookings/{token}/move",
    operation_id = "moveBooking",
    tag = "Booking pages",
    params(
        ("slug" = String, Path, description = "The `slug` of the page."),
        ("token" = String, Path, description = "The token of `reschedule_url`.")
    ),
    request_body = wire::MoveBooking,
    responses((status = 200, description = "The booking, moved.", body = wire::GuestBooking))
)]
pub(crate) async fn reschedule(
    app: Service,
    request: Anonymous,
    path: PathOf<(String, String)>,
    body: JsonBody<wire::MoveBooking>,
) -> Result<Fresh<Changed>, ApiError> {
    let (slug, token) = path.0;
    Ok(Fresh(Changed(app.move_booking(&request.0, &slug, &token, body.0.parse()?).await?)))
}
