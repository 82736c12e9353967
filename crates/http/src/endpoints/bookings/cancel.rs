//! `POST /book/{slug}/bookings/{token}/cancel`

use kalends_wire as wire;

use super::Fresh;
use crate::{
    Service,
    error::ApiError,
    extract::{Anonymous, NoBody, PathOf},
    reply::Changed,
};

/// Cancels a booking, as its guest.
///
/// The event is deleted, and the guest gets a mail. A second time changes nothing and is answered alike. Once the event has
/// begun: 409 `conflict`, code `booking_over`. A booking can be cancelled also where its page is closed.
#[utoipa::path(
    post,
    path = "/book/{slug}/bookings/{token}/cancel",
    operation_id = "cancelBooking",
    tag = "Booking pages",
    params(
        ("slug" = String, Path, description = "The `slug` of the page."),
        ("token" = String, Path, description = "The token of `cancel_url`.")
    ),
    responses((status = 200, description = "The booking, cancelled.", body = wire::GuestBooking))
)]
pub(crate) async fn cancel(
    app: Service,
    request: Anonymous,
    path: PathOf<(String, String)>,
    _: NoBody,
) -> Result<Fresh<Changed>, ApiError> {
    let (slug, token) = path.0;
    Ok(Fresh(Changed(app.cancel_booking(&request.0, &slug, &token).await?)))
}
