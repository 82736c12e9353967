//! `GET /v1/agents/{id}/availability`

use axum::body::Bytes;
use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf, QueryOf},
    reply::Written,
};

/// Returns free times of an agent.
///
/// The answer contains slots in which none of the agent's calendars is busy. With `include_busy=true`, it also
/// contains the agent's busy times, without titles.
#[utoipa::path(
    get,
    path = "/v1/agents/{id}/availability",
    operation_id = "getAgentAvailability",
    tag = "Availability",
    params(("id" = String, Path, description = "The agent, `agt_…`."), wire::AvailabilityOf),
    responses((status = 200, description = "The free slots.", body = wire::AgentAvailability))
)]
pub(crate) async fn of_agent(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    query: QueryOf<wire::AvailabilityOf>,
) -> Result<Written<Bytes>, ApiError> {
    Ok(Written(app.agent_availability(&caller.0, &id.0, query.0.parse()?).await?))
}
