//! `GET /v1/booking-pages/{id}/bookings`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf, QueryOf},
    list_page::ListPage,
};

/// Lists the bookings of a page, by start.
///
/// A booking has the times of its event as they are now. Cancelled bookings are listed too, with who cancelled them.
#[utoipa::path(
    get,
    path = "/v1/booking-pages/{id}/bookings",
    operation_id = "listBookings",
    tag = "Booking pages",
    params(("id" = String, Path, description = "The page, `bkp_…`."), wire::ListBookings),
    responses((status = 200, description = "A page of bookings.", body = wire::List<wire::Booking>))
)]
pub(crate) async fn bookings(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    query: QueryOf<wire::ListBookings>,
) -> Result<ListPage<wire::Booking>, ApiError> {
    let (filter, page) = query.0.parse()?;
    let listed = app.list_bookings(&caller.0, &id.0, filter, page).await?;
    Ok(ListPage(wire::List::new(listed, page, |booking| wire::Booking::from(&booking))))
}
