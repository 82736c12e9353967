//! `POST /v1/connection-links/open`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody},
    reply::Changed,
};

/// Opens a connection link.
///
/// From then on, the link is yours for 30 minutes, and nobody else can open it. If the link does not belong to the
/// organization that your session is switched to, the answer is 404. Switch to the link's organization first.
#[utoipa::path(
    post,
    path = "/v1/connection-links/open",
    operation_id = "openConnectionLink",
    tag = "Human calendars",
    request_body = wire::OpenConnectionLink,
    responses((status = 200, description = "The link and what it asks for.", body = wire::FollowedLink))
)]
pub(crate) async fn open(
    app: Service,
    caller: Caller,
    body: JsonBody<wire::OpenConnectionLink>,
) -> Result<Changed<wire::FollowedLink>, ApiError> {
    Ok(Changed(app.open_connection_link(&caller.0, &body.0.parse()?).await?))
}
