//! `POST /v1/booking-pages`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody},
    reply::Changed,
};

/// Opens a booking page for a calendar.
///
/// `booking_url` is where people book: whoever has it sees which slots are free, and nothing else of the calendar. Slots
/// follow the clocks of `timezone`: on each date from the beginning of its `availability_constraints`, or from midnight, one
/// after the other, none of them shortened. Offered are those that nothing blocks (`buffer_minutes` counted on both sides,
/// the calendar's availability rules too), from `min_notice_minutes` to `window_days` ahead. Over the plan's number of
/// pages: 429 `quota_exceeded`.
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
) -> Result<Changed, ApiError> {
    let (calendar, new) = body.0.parse()?;
    Ok(Changed(app.create_booking_page(&caller.0, &calendar, new).await?))
}
