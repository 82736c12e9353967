//! `POST /v1/booking-pages`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody},
    reply::Changed,
};

/// Creates a booking page for a calendar.
///
/// Guests book at `booking_url`. Anyone who has it can see which slots are free, and nothing else on the calendar.
/// Slots follow the clock in `timezone`. On each date, they start at the beginning of its `availability_constraints`,
/// or at midnight, and follow one another without gaps. None of them is shortened. A slot is offered if it starts
/// between `min_notice_minutes` and `window_days` from now and nothing blocks it, including `buffer_minutes` on both
/// sides and the calendar's availability rules. If the plan's number of pages is exceeded, the answer is 429
/// `quota_exceeded`.
#[utoipa::path(
    post,
    path = "/v1/booking-pages",
    operation_id = "createBookingPage",
    tag = "Booking pages",
    request_body = wire::CreateBookingPage,
    responses((status = 201, description = "The page.", body = wire::BookingPage))
)]
pub(crate) async fn create(
    app: Service,
    caller: Caller,
    body: JsonBody<wire::CreateBookingPage>,
) -> Result<Changed<wire::BookingPage>, ApiError> {
    let (calendar, new, named) = body.0.parse()?;
    Ok(Changed(app.create_booking_page(&caller.0, &calendar, (new, named)).await?))
}
