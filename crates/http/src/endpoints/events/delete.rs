//! `DELETE /v1/calendars/{cal_id}/events/{id}`

use kalends_app::EventPath;
use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf, Precondition, QueryOf},
    reply::Changed,
};

/// Deletes an event.
///
/// Emits `event.deleted`. A series is deleted with all of its occurrences. The identifier of an instance cancels only that
/// occurrence of its series. `occurrence_start` does the same, but emits `event.updated` and returns the series. With
/// `scope=following`, the later occurrences of an instance are deleted too, which emits `event.updated`. `scope=all`
/// deletes its whole series. With `send_invitations=true`, the attendees get a cancellation. Imported
/// events are read-only: the answer is 403 `forbidden`.
#[utoipa::path(
    delete,
    path = "/v1/calendars/{cal_id}/events/{id}",
    operation_id = "deleteCalendarEvent",
    tag = "Events",
    params(("cal_id" = String, Path, description = "The calendar, `cal_…`."), ("id" = String, Path, description = "The event, `evt_…`, or an instance of a series."), wire::DeleteEvent),
    responses(
        (status = 204, description = "The event was deleted."),
        (status = 200, description = "With `occurrence_start`: the series.", body = wire::Event)
    )
)]
pub(crate) async fn delete(
    app: Service,
    caller: Caller,
    path: PathOf<(String, String)>,
    query: QueryOf<wire::DeleteEvent>,
    if_match: Precondition,
) -> Result<Changed<Option<wire::Event>>, ApiError> {
    let path = EventPath { calendar: Some(&path.0.0), id: &path.0.1 };
    let caller = caller.0.showing(query.0.local.unwrap_or(false));
    let (scope, start, send) = (query.0.scope(), query.0.parse()?, query.0.send_invitations.unwrap_or(false));
    Ok(Changed(app.delete_event(&caller, path, scope, start, send, &if_match.0).await?))
}
