//! `POST /v1/calendars/{cal_id}/events/batch`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody, PathOf},
    reply::Changed,
};

/// Creates up to 100 events, all or none.
///
/// Each emits `event.created` and counts as one event.
#[utoipa::path(
    post,
    path = "/v1/calendars/{cal_id}/events/batch",
    operation_id = "createEventBatch",
    tag = "Events",
    params(("cal_id" = String, Path, description = "The calendar, `cal_…`.")),
    request_body = wire::CreateEventBatch,
    responses((status = 201, description = "The events, in the order given.", body = wire::EventBatch))
)]
pub(crate) async fn create_batch(
    app: Service,
    caller: Caller,
    calendar: PathOf<String>,
    body: JsonBody<wire::CreateEventBatch>,
) -> Result<Changed, ApiError> {
    Ok(Changed(app.create_events(&caller.0, &calendar.0, body.0.parse()?).await?))
}
