//! `POST /v1/calendars/{id}/connection-links`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody, PathOf},
    reply::Changed,
};

/// Creates a link on which a user can connect a calendar.
///
/// Send `setup_url` to a user of the organization's console. The user opens it once, within 15 minutes, and connects
/// an account. Poll the link to see the result. If the calendar already has an open link, that link is returned with
/// `reused`, without its address. To get a new address, cancel the link first.
#[utoipa::path(
    post,
    path = "/v1/calendars/{id}/connection-links",
    operation_id = "createConnectionLink",
    tag = "Human calendars",
    params(("id" = String, Path, description = "The calendar, `cal_…`.")),
    request_body = wire::CreateConnectionLink,
    responses((status = 201, description = "The link, with its address.", body = wire::NewConnectionLink))
)]
pub(crate) async fn create(
    app: Service,
    caller: Caller,
    calendar: PathOf<String>,
    body: JsonBody<wire::CreateConnectionLink>,
) -> Result<Changed<wire::NewConnectionLink>, ApiError> {
    Ok(Changed(app.create_connection_link(&caller.0, &calendar.0, body.0.parse()?).await?))
}
