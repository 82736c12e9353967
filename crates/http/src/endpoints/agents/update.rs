//! `PATCH /v1/agents/{id}`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody, PathOf, Precondition},
    reply::Changed,
};

/// Changes an agent.
///
/// At least one field is required. Emits `agent.updated`. A decommissioned agent cannot be changed: the answer is 409
/// `conflict`.
#[utoipa::path(
    patch,
    path = "/v1/agents/{id}",
    operation_id = "updateAgent",
    tag = "Agents",
    params(("id" = String, Path, description = "The agent, `agt_…`.")),
    request_body = wire::UpdateAgent,
    responses((status = 200, description = "The agent.", body = wire::Agent))
)]
pub(crate) async fn update(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    if_match: Precondition,
    body: JsonBody<wire::UpdateAgent>,
) -> Result<Changed<wire::Agent>, ApiError> {
    Ok(Changed(app.update_agent(&caller.0, &id.0, body.0.parse()?, &if_match.0).await?))
}
