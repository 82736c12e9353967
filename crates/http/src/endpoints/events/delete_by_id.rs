//! `DELETE /v1/events/{id}`

use kalends_app::EventPath;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf, Precondition},
    reply::Changed,
};

/// Deletes an event by its identifier alone.
///
/// Emits `event.deleted`. Imported events are read-only: 403 `forbidden`.
#[utoipa::path(
    delete,
    path = "/v1/events/{id}",
    operation_id = "deleteEvent",
    tag = "Events",
    params(("id" = String, Path, description = "The event, `evt_…`.")),
    responses((status = 204, description = "The event is gone."))
)]
pub(crate) async fn delete_by_id(
    app: Service,
    caller: Caller,
    path: PathOf<String>,
    if_match: Precondition,
) -> Result<Changed, ApiError> {
    let path = EventPath { calendar: None, id: &path.0 };
    Ok(Changed(app.delete_event(&caller.0, path, &if_match.0).await?))
}
