//! `POST /v1/calendars`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody},
    reply::Changed,
};

/// Creates a calendar that the organization shares.
///
/// It belongs to no agent. If the plan's number of calendars is exceeded, the answer is 429 `quota_exceeded`.
#[utoipa::path(
    post,
    path = "/v1/calendars",
    operation_id = "createCalendar",
    tag = "Calendars",
    request_body = wire::CreateCalendar,
    responses((status = 201, description = "The calendar.", body = wire::Calendar))
)]
pub(crate) async fn create(
    app: Service,
    caller: Caller,
    body: JsonBody<wire::CreateCalendar>,
) -> Result<Changed<wire::Calendar>, ApiError> {
    Ok(Changed(app.create_calendar(&caller.0, None, body.0.parse()?).await?))
}
