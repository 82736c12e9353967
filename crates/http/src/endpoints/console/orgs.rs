//! `GET /v1/auth/orgs`

use axum::Json;
use kalends_wire as wire;

use crate::{Service, error::ApiError, extract::Caller};

/// Lists your organizations, in the order in which you became their owner.
#[utoipa::path(
    get,
    path = "/v1/auth/orgs",
    operation_id = "listOwnedOrgs",
    tag = "Console",
    responses((status = 200, description = "The organizations.", body = wire::OwnedOrgs))
)]
pub(crate) async fn orgs(app: Service, caller: Caller) -> Result<Json<wire::OwnedOrgs>, ApiError> {
    Ok(Json(app.owned_orgs(&caller.0).await?))
}
