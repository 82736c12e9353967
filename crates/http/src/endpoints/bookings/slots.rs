//! `GET /book/{slug}/slots`

use bytes::Bytes;
use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{PathOf, QueryOf},
    reply::{Fresh, Written},
};

/// Lists the slots that a booking page offers right now.
///
/// The answer covers the page's whole window, or the time between `from` and `to`. It contains the first 5,000 slots,
/// and `next_from` if there are more. Anyone with the address can ask, without a key. The limit is 60 requests per
/// minute and address. If the page is not active or was deleted, the answer is 404. If the organization has used up the
/// month's events, no slot is offered, and `notices` contains `booking_closed`.
#[utoipa::path(
    get,
    path = "/book/{slug}/slots",
    operation_id = "listBookingSlots",
    tag = "Booking pages",
    params(("slug" = String, Path, description = "The `slug` of the page."), wire::SlotsOfPage),
    responses((status = 200, description = "The slots, sorted by start.", body = wire::BookingSlots))
)]
pub(crate) async fn slots(
    app: Service,
    slug: PathOf<String>,
    query: QueryOf<wire::SlotsOfPage>,
) -> Result<Fresh<Written<Bytes>>, ApiError> {
    let range = query.0.parse()?;
    Ok(Fresh(Written(app.booking_slots(&slug.0, range).await?)))
}
