//! `POST /v1/events/{id}/move`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody, PathOf, Precondition, QueryOf},
    reply::Changed,
};

/// Moves an event, or a whole series, to another calendar.
///
/// The event keeps its identifier, its fields and, in a series, its cancelled and changed occurrences. An all-day event
/// keeps its dates in the zone of the new calendar. Without reminders of its own, it gets the new calendar's. An event
/// that is on the calendar already stays as it is. Emits `event.updated`. An instance of a series moves only with its
/// series. If the time must be free there and is not, the answer is 409 `conflict`, code `slot_taken`. Imported events
/// are read-only: the answer is 403 `forbidden`, code `external_event_readonly`.
#[utoipa::path(
    post,
    path = "/v1/events/{id}/move",
    operation_id = "moveEvent",
    tag = "Events",
    params(("id" = String, Path, description = "The event, `evt_…`."), wire::ShowEvents),
    request_body = wire::MoveEvent,
    responses((status = 200, description = "The event on its new calendar.", body = wire::Event))
)]
pub(crate) async fn move_event(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    query: QueryOf<wire::ShowEvents>,
    if_match: Precondition,
    body: JsonBody<wire::MoveEvent>,
) -> Result<Changed<wire::Event>, ApiError> {
    let caller = caller.0.showing(query.0.local());
    Ok(Changed(app.move_event(&caller, &id.0, &body.0, &if_match.0).await?))
}
