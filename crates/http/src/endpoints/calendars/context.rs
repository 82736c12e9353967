//! `GET /v1/calendars/{id}/context`

use axum::Json;
use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf, QueryOf},
};

/// Returns the current, next and recent events of a calendar.
///
/// Cancelled events are left out. The request does not count against the quota of events.
#[utoipa::path(
    get,
    path = "/v1/calendars/{id}/context",
    operation_id = "getCalendarContext",
    tag = "Calendars",
    params(("id" = String, Path, description = "The calendar, `cal_…`."), wire::ShowEvents),
    responses((status = 200, description = "The context.", body = wire::CalendarContext))
)]
pub(crate) async fn context(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    query: QueryOf<wire::ShowEvents>,
) -> Result<Json<wire::CalendarContext>, ApiError> {
    Ok(Json(wire::CalendarContext::new(app.context(&caller.0, &id.0).await?, query.0.local())))
}
