//! `POST /v1/connection-links/{id}/decline`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, NoBody, PathOf},
    reply::Changed,
};

/// Declines a connection link that you have opened.
#[utoipa::path(
    post,
    path = "/v1/connection-links/{id}/decline",
    operation_id = "declineConnectionLink",
    tag = "Human calendars",
    params(("id" = String, Path, description = "The link, `cln_…`.")),
    responses((status = 200, description = "The link.", body = wire::FollowedLink))
)]
pub(crate) async fn decline(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    _: NoBody,
) -> Result<Changed<wire::FollowedLink>, ApiError> {
    Ok(Changed(app.decline_connection_link(&caller.0, &id.0).await?))
}
