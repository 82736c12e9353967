//! `GET` and `PUT /v1/calendar-connections/{id}/drawing`

use axum::Json;
use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody, PathOf},
    reply::Changed,
};

/// Returns the busy times that you drew in example calendars.
///
/// For a connection of another provider, the answer is 404.
#[utoipa::path(
    get,
    path = "/v1/calendar-connections/{id}/drawing",
    operation_id = "getDrawing",
    tag = "Human calendars",
    params(("id" = String, Path, description = "The connection, `con_…`.")),
    responses((status = 200, description = "The calendars with their busy times.", body = wire::DrawnCalendars))
)]
pub(crate) async fn read(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
) -> Result<Json<wire::DrawnCalendars>, ApiError> {
    Ok(Json(app.drawing(&caller.0, &id.0).await?))
}

/// Replaces the busy times of example calendars.
///
/// Calendars that are not named stay as they are. The connection is refreshed at once, as after a change at a provider.
#[utoipa::path(
    put,
    path = "/v1/calendar-connections/{id}/drawing",
    operation_id = "replaceDrawing",
    tag = "Human calendars",
    params(("id" = String, Path, description = "The connection, `con_…`.")),
    request_body = wire::ReplaceDrawing,
    responses((status = 200, description = "All calendars with their busy times.", body = wire::DrawnCalendars))
)]
pub(crate) async fn replace(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    body: JsonBody<wire::ReplaceDrawing>,
) -> Result<Changed<wire::DrawnCalendars>, ApiError> {
    Ok(Changed(app.draw(&caller.0, &id.0, &body.0.parse()?).await?))
}
