//! `POST /v1/calendars/{cal_id}/events`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody, PathOf, QueryOf},
    reply::Changed,
};

/// Creates an event.
///
/// Events may overlap, unless `if_free` is set or the calendar refuses conflicts. In that case, the answer is 409
/// `conflict`, code `slot_taken`, if something blocks the time. Emits `event.created`. If the plan's events of the month
/// are used up, the answer is 429 `quota_exceeded`.
#[utoipa::path(
    post,
    path = "/v1/calendars/{cal_id}/events",
    operation_id = "createEvent",
    tag = "Events",
    params(("cal_id" = String, Path, description = "The calendar, `cal_…`."), wire::ShowEvents),
    request_body = wire::CreateEvent,
    responses((status = 201, description = "The event.", body = wire::Event))
)]
pub(crate) async fn create(
    app: Service,
    caller: Caller,
    calendar: PathOf<String>,
    query: QueryOf<wire::ShowEvents>,
    body: JsonBody<wire::CreateEvent>,
) -> Result<Changed<wire::Event>, ApiError> {
    let caller = caller.0.showing(query.0.local());
    Ok(Changed(app.create_event(&caller, &calendar.0, body.0.parse()?).await?))
}
