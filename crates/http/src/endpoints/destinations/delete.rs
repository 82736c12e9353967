//! `DELETE /v1/calendars/{cal_id}/external-destination`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf, Precondition, QueryOf},
    reply::Changed,
};

/// Stops publishing the events of a calendar.
///
/// Copies of upcoming events are deleted from your account soon afterwards, except those that you changed. With
/// `copies=keep`, all copies stay there.
#[utoipa::path(
    delete,
    path = "/v1/calendars/{cal_id}/external-destination",
    operation_id = "deleteExternalDestination",
    tag = "Human calendars",
    params(("cal_id" = String, Path, description = "The calendar, `cal_…`."), wire::DeleteExternalDestination),
    responses((status = 204, description = "The events are no longer published."))
)]
pub(crate) async fn delete(
    app: Service,
    caller: Caller,
    cal_id: PathOf<String>,
    query: QueryOf<wire::DeleteExternalDestination>,
    if_match: Precondition,
) -> Result<Changed<()>, ApiError> {
    let keep = query.0.keeps_copies()?;
    Ok(Changed(app.delete_destination(&caller.0, &cal_id.0, keep, &if_match.0).await?))
}
