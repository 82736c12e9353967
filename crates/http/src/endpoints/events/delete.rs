//! `DELETE /v1/calendars/{cal_id}/events/{id}`

use kalends_app::EventPath;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf, Precondition},
    reply::Changed,
};

/// Deletes an event.
///
/// Emits `event.deleted`. Imported events are read-only: 403 `forbidden`.
#[utoipa::path(
    delete,
    path = "/v1/calendars/{cal_id}/events/{id}",
    operation_id = "deleteCalendarEvent",
    tag = "Events",
    params(("cal_id" = String, Path, description = "The calendar, `cal_…`."), ("id" = String, Path, description = "The event, `evt_…`.")),
    responses((status = 204, description = "The event is gone."))
)]
pub(crate) async fn delete(
    app: Service,
    caller: Caller,
    path: PathOf<(String, String)>,
    if_match: Precondition,
) -> Result<Changed, ApiError> {
    let path = EventPath { calendar: Some(&path.0.0), id: &path.0.1 };
    Ok(Changed(app.delete_event(&caller.0, path, &if_match.0).await?))
}
