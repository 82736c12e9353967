//! `POST /v1/calendar-connections/{id}/resume`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, NoBody, PathOf},
    reply::Changed,
};

/// Resumes a paused calendar account.
///
/// The account is refreshed at once.
#[utoipa::path(
    post,
    path = "/v1/calendar-connections/{id}/resume",
    operation_id = "resumeCalendarConnection",
    tag = "Human calendars",
    params(("id" = String, Path, description = "The connection, `con_…`.")),
    responses((status = 200, description = "The connection.", body = wire::CalendarConnection))
)]
pub(crate) async fn resume(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    _: NoBody,
) -> Result<Changed<wire::CalendarConnection>, ApiError> {
    Ok(Changed(app.pause_connection(&caller.0, &id.0, false).await?))
}
