//! `POST /v1/agents`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody},
    reply::Changed,
};

/// Creates an agent.
///
/// Emits `agent.created`. If the plan's number of agents is exceeded, the answer is 429 `quota_exceeded`.
#[utoipa::path(
    post,
    path = "/v1/agents",
    operation_id = "createAgent",
    tag = "Agents",
    request_body = wire::CreateAgent,
    responses((status = 201, description = "The agent.", body = wire::Agent))
)]
pub(crate) async fn create(
    app: Service,
    caller: Caller,
    body: JsonBody<wire::CreateAgent>,
) -> Result<Changed<wire::Agent>, ApiError> {
    Ok(Changed(app.create_agent(&caller.0, body.0.parse()?).await?))
}
