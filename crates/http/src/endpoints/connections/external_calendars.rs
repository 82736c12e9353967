//! `GET /v1/calendar-connections/{id}/external-calendars`

use axum::Json;
use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
};

/// Lists the calendars of a connected account, its primary calendar first.
///
/// The list is from the last refresh. The names of the calendars are shown here and nowhere else.
#[utoipa::path(
    get,
    path = "/v1/calendar-connections/{id}/external-calendars",
    operation_id = "listExternalCalendars",
    tag = "Human calendars",
    params(("id" = String, Path, description = "The connection, `con_…`.")),
    responses((status = 200, description = "The calendars.", body = wire::ExternalCalendars))
)]
pub(crate) async fn external_calendars(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
) -> Result<Json<wire::ExternalCalendars>, ApiError> {
    Ok(Json(app.external_calendars(&caller.0, &id.0).await?))
}
