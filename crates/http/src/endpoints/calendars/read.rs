//! `GET /v1/calendars/{id}`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    reply::WithETag,
};

/// Returns a calendar.
#[utoipa::path(
    get,
    path = "/v1/calendars/{id}",
    operation_id = "getCalendar",
    tag = "Calendars",
    params(("id" = String, Path, description = "The calendar, `cal_…`.")),
    responses((status = 200, description = "The calendar.", body = wire::Calendar))
)]
pub(crate) async fn read(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
) -> Result<WithETag<wire::Calendar>, ApiError> {
    let calendar = app.calendar(&caller.0, &id.0).await?;
    let version = calendar.version;
    Ok(WithETag { version, resource: wire::Calendar::new(calendar, &app.settings().base_url) })
}
