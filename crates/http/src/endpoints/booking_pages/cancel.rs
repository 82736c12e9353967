//! `POST /v1/bookings/{id}/cancel`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, OptionalBody, PathOf},
    reply::Changed,
};

/// Cancels a booking, as its host.
///
/// The event is deleted, and the guest gets an email with the `reason`. If the booking is cancelled already, nothing
/// changes and nothing is sent. If the event has started, the answer is 409 `conflict`, code `booking_over`.
#[utoipa::path(
    post,
    path = "/v1/bookings/{id}/cancel",
    operation_id = "cancelBookingAsHost",
    tag = "Booking pages",
    params(("id" = String, Path, description = "The booking, `bkg_…`.")),
    request_body = Option<wire::CancelBooking>,
    responses((status = 200, description = "The cancelled booking.", body = wire::Booking))
)]
pub(crate) async fn cancel(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    body: OptionalBody<wire::CancelBooking>,
) -> Result<Changed<wire::Booking>, ApiError> {
    Ok(Changed(app.cancel_booking_as_host(&caller.0, &id.0, body.0.parse()?).await?))
}
