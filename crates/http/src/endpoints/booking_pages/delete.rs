//! `DELETE /v1/booking-pages/{id}`

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf, Precondition},
    reply::Changed,
};

/// Deletes a booking page.
///
/// Its address answers 404 from then on. Booked events stay, and their guests can still view and cancel them.
#[utoipa::path(
    delete,
    path = "/v1/booking-pages/{id}",
    operation_id = "deleteBookingPage",
    tag = "Booking pages",
    params(("id" = String, Path, description = "The page, `bkp_…`.")),
    responses((status = 204, description = "The page was deleted."))
)]
pub(crate) async fn delete(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    if_match: Precondition,
) -> Result<Changed<()>, ApiError> {
    Ok(Changed(app.delete_booking_page(&caller.0, &id.0, &if_match.0).await?))
}
