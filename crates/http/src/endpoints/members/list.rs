//! `GET /v1/auth/members`

use axum::Json;
use kalends_wire as wire;

use crate::{Service, error::ApiError, extract::Caller};

/// Lists the members of your organization, and the open invitations.
#[utoipa::path(
    get,
    path = "/v1/auth/members",
    operation_id = "listMembers",
    tag = "Members",
    responses((status = 200, description = "The members and invitations.", body = wire::Members))
)]
pub(crate) async fn list(app: Service, caller: Caller) -> Result<Json<wire::Members>, ApiError> {
    Ok(Json(app.list_members(&caller.0).await?))
}
