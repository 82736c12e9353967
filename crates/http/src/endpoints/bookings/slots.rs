//! `GET /book/{slug}/slots`

use bytes::Bytes;
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
/// All of the page's window, or what lies between `from` and `to`: the first 5,000, and `next_from` where there are
/// more. Anybody with the address may ask, without a key: 60 times a minute and address. 404 for a page that is not
/// active, or deleted. While the month's events of the organization are used up no slot is offered, and `notices` says
/// `booking_closed`.
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
) -> Result<Fresh<Written<Bytes>>, ApiError> {
    let asked = query.0.parse()?;
    Ok(Fresh(Written(app.booking_slots(&slug.0, asked).await?)))
}
