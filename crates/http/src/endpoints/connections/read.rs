//! `GET /v1/calendar-connections/{id}`

use axum::Json;
use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
};

/// Returns a connected calendar account.
///
/// `data` says how current the busy times are. `last_error` says why the last refresh failed, if it did.
#[utoipa::path(
    get,
    path = "/v1/calendar-connections/{id}",
    operation_id = "getCalendarConnection",
    tag = "Human calendars",
    params(("id" = String, Path, description = "The connection, `con_…`.")),
    responses((status = 200, description = "The connection.", body = wire::CalendarConnection))
)]
pub(crate) async fn read(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
) -> Result<Json<wire::CalendarConnection>, ApiError> {
    Ok(Json(app.connection(&caller.0, &id.0).await?))
}
