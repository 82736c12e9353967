//! `GET /v1/agents/{id}`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    reply::WithETag,
};

/// Returns an agent.
#[utoipa::path(
    get,
    path = "/v1/agents/{id}",
    operation_id = "getAgent",
    tag = "Agents",
    params(("id" = String, Path, description = "The agent, `agt_…`.")),
    responses((status = 200, description = "The agent.", body = wire::Agent))
)]
pub(crate) async fn read(app: Service, caller: Caller, id: PathOf<String>) -> Result<WithETag<wire::Agent>, ApiError> {
    let agent = app.agent(&caller.0, &id.0).await?;
    Ok(WithETag { version: agent.version, resource: agent.into() })
}
