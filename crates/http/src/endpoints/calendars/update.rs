//! `PATCH /v1/calendars/{id}`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody, PathOf, Precondition},
    reply::Changed,
};

/// Changes a calendar.
///
/// At least one field is required.
#[utoipa::path(
    patch,
    path = "/v1/calendars/{id}",
    operation_id = "updateCalendar",
    tag = "Calendars",
    params(("id" = String, Path, description = "The calendar, `cal_…`.")),
    request_body = wire::UpdateCalendar,
    responses((status = 200, description = "The calendar.", body = wire::Calendar))
)]
pub(crate) async fn update(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    if_match: Precondition,
    body: JsonBody<wire::UpdateCalendar>,
) -> Result<Changed<wire::Calendar>, ApiError> {
    Ok(Changed(app.update_calendar(&caller.0, &id.0, body.0.parse()?, &if_match.0).await?))
}
