//! `PATCH /v1/calendar-connections/{id}`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody, PathOf},
    reply::Changed,
};

/// Changes the label of a connected calendar account.
#[utoipa::path(
    patch,
    path = "/v1/calendar-connections/{id}",
    operation_id = "updateCalendarConnection",
    tag = "Human calendars",
    params(("id" = String, Path, description = "The connection, `con_…`.")),
    request_body = wire::UpdateConnection,
    responses((status = 200, description = "The connection.", body = wire::CalendarConnection))
)]
pub(crate) async fn update(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    body: JsonBody<wire::UpdateConnection>,
) -> Result<Changed<wire::CalendarConnection>, ApiError> {
    Ok(Changed(app.label_connection(&caller.0, &id.0, body.0.parse()?).await?))
}
