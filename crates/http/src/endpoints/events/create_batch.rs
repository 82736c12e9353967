//! `POST /v1/calendars/{cal_id}/events/batch`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody, PathOf, QueryOf},
    reply::Changed,
};

/// Creates up to 100 events. Either all of them are created or none.
///
/// Each event emits `event.created` and counts as one event. If the time of one must be free and is not, the answer is
/// 409 `conflict`, code `slot_taken`, and `param` names the event.
#[utoipa::path(
    post,
    path = "/v1/calendars/{cal_id}/events/batch",
    operation_id = "createEventBatch",
    tag = "Events",
    params(("cal_id" = String, Path, description = "The calendar, `cal_…`."), wire::ShowEvents),
    request_body = wire::CreateEventBatch,
    responses((status = 201, description = "The events, in the order given.", body = wire::EventBatch))
)]
pub(crate) async fn create_batch(
    app: Service,
    caller: Caller,
    calendar: PathOf<String>,
    query: QueryOf<wire::ShowEvents>,
    body: JsonBody<wire::CreateEventBatch>,
) -> Result<Changed<wire::EventBatch>, ApiError> {
    let caller = caller.0.showing(query.0.local());
    Ok(Changed(app.create_events(&caller, &calendar.0, body.0.parse()?).await?))
}
