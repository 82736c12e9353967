//! `POST /book/{slug}`

use kalends_wire as wire;

use super::Fresh;
use crate::{
    Service,
    error::ApiError,
    extract::{Anonymous, JsonBody, PathOf},
    reply::Changed,
};

/// Books a slot of a booking page.
///
/// `start` is the start of a slot that the page offers now; of many who want the same one, one gets it, and the others 409
/// `conflict`, code `slot_taken`, with up to three slots in `nearest_free`. What is no slot of the page is 400. The guest
/// gets a mail with an invitation, and the links of the answer to cancel or move the booking. Where the page's owner has used
/// up the month's events: 429 `quota_exceeded`, code `booking_closed`. 10 times a minute and address.
#[utoipa::path(
    post,
    path = "/book/{slug}",
    operation_id = "createBooking",
    tag = "Booking pages",
    params(("slug" = String, Path, description = "The `slug` of the page.")),
    request_body = wire::SubmitBooking,
    responses((status = 201, description = "What is booked.", body = wire::Booked))
)]
pub(crate) async fn book(
    app: Service,
    request: Anonymous,
    slug: PathOf<String>,
    body: JsonBody<wire::SubmitBooking>,
) -> Result<Fresh<Changed>, ApiError> {
    let (start, guest) = body.0.parse()?;
    Ok(Fresh(Changed(app.book(&request.0, &slug.0, start, guest).await?)))
}
