//! `DELETE /v1/calendars/{id}`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf, Precondition, QueryOf},
    reply::Changed,
};

/// Deletes a calendar and all of its events.
///
/// The events emit nothing of their own. With `if_empty=true`, a calendar that still has events is kept, and the answer
/// is 409 `conflict`, code `calendar_has_events`.
#[utoipa::path(
    delete,
    path = "/v1/calendars/{id}",
    operation_id = "deleteCalendar",
    tag = "Calendars",
    params(("id" = String, Path, description = "The calendar, `cal_…`."), wire::DeleteCalendar),
    responses((status = 204, description = "The calendar was deleted."))
)]
pub(crate) async fn delete(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    query: QueryOf<wire::DeleteCalendar>,
    if_match: Precondition,
) -> Result<Changed<()>, ApiError> {
    let if_empty = query.0.if_empty.unwrap_or(false);
    Ok(Changed(app.delete_calendar(&caller.0, &id.0, if_empty, &if_match.0).await?))
}
