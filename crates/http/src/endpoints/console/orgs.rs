//! `GET /v1/auth/orgs`

use axum::Json;
use kalends_wire as wire;

use crate::{Service, error::ApiError, extract::Caller};

/// Lists your organizations with your role in each, in the order in which you became a member.
#[utoipa::path(
    get,
    path = "/v1/auth/orgs",
    operation_id = "listOwnOrgs",
    tag = "Console",
    responses((status = 200, description = "The organizations.", body = wire::OwnOrgs))
)]
pub(crate) async fn orgs(app: Service, caller: Caller) -> Result<Json<wire::OwnOrgs>, ApiError> {
    Ok(Json(app.own_orgs(&caller.0).await?))
}
