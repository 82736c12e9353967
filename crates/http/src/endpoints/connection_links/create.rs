//! `POST /v1/calendars/{id}/connection-links`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody, PathOf},
    reply::Changed,
};

/// Asks a human to connect a calendar of theirs.
///
/// Send them `setup_url`: whoever is signed in to the organization's console opens it once, within 15 minutes, and connects
/// Google or Microsoft. Poll the link meanwhile. While one waits for a human, that one is answered
/// with `reused`, and its address is not told again; cancel it to have another.
#[utoipa::path(
    post,
    path = "/v1/calendars/{id}/connection-links",
    operation_id = "createConnectionLink",
    tag = "Human calendars",
    params(("id" = String, Path, description = "The calendar, `cal_…`.")),
    request_body = wire::CreateConnectionLink,
    responses((status = 201, description = "The link, and where it leads.", body = wire::NewConnectionLink))
)]
pub(crate) async fn create(
    app: Service,
    caller: Caller,
    calendar: PathOf<String>,
    body: JsonBody<wire::CreateConnectionLink>,
) -> Result<Changed, ApiError> {
    Ok(Changed(app.create_connection_link(&caller.0, &calendar.0, body.0.parse()?).await?))
}
