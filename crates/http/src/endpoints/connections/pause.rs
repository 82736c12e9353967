//! `POST /v1/calendar-connections/{id}/pause`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, NoBody, PathOf},
    reply::Changed,
};

/// Pauses a connected calendar account.
///
/// Until it is resumed, the account is not refreshed and its calendars do not count as busy.
#[utoipa::path(
    post,
    path = "/v1/calendar-connections/{id}/pause",
    operation_id = "pauseCalendarConnection",
    tag = "Human calendars",
    params(("id" = String, Path, description = "The connection, `con_…`.")),
    responses((status = 200, description = "The connection.", body = wire::CalendarConnection))
)]
pub(crate) async fn pause(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    _: NoBody,
) -> Result<Changed<wire::CalendarConnection>, ApiError> {
    Ok(Changed(app.pause_connection(&caller.0, &id.0, true).await?))
}
