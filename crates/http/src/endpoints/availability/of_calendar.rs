//! `GET /v1/calendars/{id}/availability`

use axum::body::Bytes;
use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf, QueryOf},
    reply::Written,
};

/// Returns free times of a calendar.
///
/// With `include_busy=true`, the answer also contains the calendar's busy times, without titles.
#[utoipa::path(
    get,
    path = "/v1/calendars/{id}/availability",
    operation_id = "getCalendarAvailability",
    tag = "Availability",
    params(("id" = String, Path, description = "The calendar, `cal_…`."), wire::AvailabilityOf),
    responses((status = 200, description = "The free slots.", body = wire::CalendarAvailability))
)]
pub(crate) async fn of_calendar(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    query: QueryOf<wire::AvailabilityOf>,
) -> Result<Written<Bytes>, ApiError> {
    Ok(Written(app.calendar_availability(&caller.0, &id.0, query.0.parse()?).await?))
}
