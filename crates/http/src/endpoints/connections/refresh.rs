//! `POST /v1/calendar-connections/{id}/refresh`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, NoBody, PathOf},
    reply::Changed,
};

/// Has a connected calendar account refreshed at once.
///
/// It is every 5 minutes anyway. 409 while it is `paused`, or waits for your consent; `last_refreshed_at` and `last_error` tell how
/// it ended.
#[utoipa::path(
    post,
    path = "/v1/calendar-connections/{id}/refresh",
    operation_id = "refreshCalendarConnection",
    tag = "Human calendars",
    params(("id" = String, Path, description = "The connection, `con_…`.")),
    responses((status = 202, description = "It will be refreshed.", body = wire::Refreshing))
)]
pub(crate) async fn refresh(app: Service, caller: Caller, id: PathOf<String>, _: NoBody) -> Result<Changed, ApiError> {
    Ok(Changed(app.ask_refresh(&caller.0, &id.0).await?))
}
