//! `GET /v1/booking-pages`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, QueryOf},
    list_page::ListPage,
};

/// Lists booking pages, oldest first.
///
/// An agent's key sees only the pages of its agent's calendars.
#[utoipa::path(
    get,
    path = "/v1/booking-pages",
    operation_id = "listBookingPages",
    tag = "Booking pages",
    params(wire::Paging),
    responses((status = 200, description = "A page of booking pages.", body = wire::List<wire::BookingPage>))
)]
pub(crate) async fn list(
    app: Service,
    caller: Caller,
    query: QueryOf<wire::Paging>,
) -> Result<ListPage<wire::BookingPage>, ApiError> {
    let page = query.0.parse()?;
    let listed = app.list_booking_pages(&caller.0, page).await?;
    let base_url = &app.settings().base_url;
    Ok(ListPage(wire::List::new(listed, page, |page| wire::BookingPage::new(&page, base_url))))
}
