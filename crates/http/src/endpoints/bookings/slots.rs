//! `GET /book/{slug}/slots`

use kalends_wire as wire;

use super::Fresh;
use crate::{
    Service,
    error::ApiError,
    extract::{PathOf, QueryOf},
    reply::Written,
};

/// Lists the slots that a booking page offers now.
///
/// All of the page's window, or what lies between `from` and `to`. Anybody with the address may ask, without a key: 60
/// times a minute and address. 404 for a page that is not active, or deleted.
#[utoipa::path(
    get,
    path = "/book/{slug}/slots",
    operation_id = "listBookingSlots",
    tag = "Booking pages",
    params(("slug" = String, Path, description = "The `slug` of the page."), wire::SlotsOfPage),
    responses((status = 200, description = "The slots, by start.", body = wire::BookingSlots))
)]
pub(crate) async fn slots(
    app: Service,
    slug: PathOf<String>,
    query: QueryOf<wire::SlotsOfPage>,
) -> Result<Fresh<Written<Vec<u8>>>, ApiError> {
    let asked = query.0.parse()?;
    let page = app.open_page(&slug.0).await?;
    let slots = app.offered_slots(&page, asked.by_clocks_of(page.timetable.zone)?).await?;
    let text = wire::BookingSlots::render(&page, &slots).map_err(|_| ApiError::Internal)?;
    Ok(Fresh(Written(text)))
}
