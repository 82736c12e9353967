//! `GET /v1/booking-pages/{id}`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    reply::WithETag,
};

/// Returns a booking page.
#[utoipa::path(
    get,
    path = "/v1/booking-pages/{id}",
    operation_id = "getBookingPage",
    tag = "Booking pages",
    params(("id" = String, Path, description = "The page, `bkp_…`.")),
    responses((status = 200, description = "The page.", body = wire::BookingPage))
)]
pub(crate) async fn read(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
) -> Result<WithETag<wire::BookingPage>, ApiError> {
    let page = app.booking_page(&caller.0, &id.0).await?;
    let resource = wire::BookingPage::new(&page, &app.settings().base_url);
    Ok(WithETag { resource, version: page.version })
}
