//! `PATCH /v1/booking-pages/{id}`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody, PathOf, Precondition},
    reply::Changed,
};

/// Changes a booking page.
///
/// Every field except `calendar_id` can change. Existing bookings stay as they are. If a page is not `active`, it
/// answers 404 to guests, except for their existing bookings.
#[utoipa::path(
    patch,
    path = "/v1/booking-pages/{id}",
    operation_id = "updateBookingPage",
    tag = "Booking pages",
    params(("id" = String, Path, description = "The page, `bkp_…`.")),
    request_body = wire::UpdateBookingPage,
    responses((status = 200, description = "The page.", body = wire::BookingPage))
)]
pub(crate) async fn update(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    if_match: Precondition,
    body: JsonBody<wire::UpdateBookingPage>,
) -> Result<Changed<wire::BookingPage>, ApiError> {
    Ok(Changed(app.update_booking_page(&caller.0, &id.0, body.0.parse()?, &if_match.0).await?))
}
