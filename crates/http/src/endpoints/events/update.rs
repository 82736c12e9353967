//! `PATCH /v1/calendars/{cal_id}/events/{id}`

use kalends_app::EventPath;
use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody, PathOf, Precondition, QueryOf},
    reply::Changed,
};

/// Changes an event.
///
/// At least one field is required. Emits `event.updated`. Without `end_time`, `start_time` moves the event, which keeps
/// its length. Without `start_time`, `end_time` changes the length. An instance of a series changes independently of
/// the series and keeps its `originalStartTime`. With `scope=following` or `scope=all`, its later occurrences, or all of
/// them, change too: a new start moves them by as much on the wall clock, with their cancelled and changed occurrences. If a series gets a new rule or start, its cancelled and changed
/// occurrences are kept if the new rule still contains them, and dropped otherwise. If the time must be free and is
/// not, the answer is 409 `conflict`, code `slot_taken`. Imported events are read-only: the answer is 403 `forbidden`,
/// code `external_event_readonly`.
#[utoipa::path(
    patch,
    path = "/v1/calendars/{cal_id}/events/{id}",
    operation_id = "updateCalendarEvent",
    tag = "Events",
    params(("cal_id" = String, Path, description = "The calendar, `cal_…`."), ("id" = String, Path, description = "The event, `evt_…`, or an instance of a series."), wire::ChangeEvent),
    request_body = wire::UpdateEvent,
    responses((status = 200, description = "The event.", body = wire::Event))
)]
pub(crate) async fn update(
    app: Service,
    caller: Caller,
    path: PathOf<(String, String)>,
    query: QueryOf<wire::ChangeEvent>,
    if_match: Precondition,
    body: JsonBody<wire::UpdateEvent>,
) -> Result<Changed<wire::Event>, ApiError> {
    let path = EventPath { calendar: Some(&path.0.0), id: &path.0.1 };
    let caller = caller.0.showing(query.0.local.unwrap_or(false));
    Ok(Changed(app.update_event(&caller, path, query.0.scope(), body.0.parse()?, &if_match.0).await?))
}
