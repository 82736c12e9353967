//! `POST /v1/calendars/{cal_id}/events`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody, PathOf},
    reply::Changed,
};

/// Creates an event.
///
/// Events may overlap. Emits `event.created`. Over the plan's events of the month: 429 `quota_exceeded`.
#[utoipa::path(
    post,
    path = "/v1/calendars/{cal_id}/events",
    operation_id = "createEvent",
    tag = "Events",
    params(("cal_id" = String, Path, description = "The calendar, `cal_…`.")),
    request_body = wire::CreateEvent,
    responses((status = 201, description = "The event.", body = wire::Event))
)]
pub(crate) async fn create(
    app: Service,
    caller: Caller,
    calendar: PathOf<String>,
    body: JsonBody<wire::CreateEvent>,
) -> Result<Changed, ApiError> {
    Ok(Changed(app.create_event(&caller.0, &calendar.0, body.0.parse()?).await?))
}
