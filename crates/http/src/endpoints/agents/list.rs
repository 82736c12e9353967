//! `GET /v1/agents`

use axum::Json;
use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, QueryOf},
};

/// Lists agents, the oldest first.
///
/// Decommissioned agents stay listed with their status.
#[utoipa::path(
    get,
    path = "/v1/agents",
    operation_id = "listAgents",
    tag = "Agents",
    params(wire::ListAgents),
    responses((status = 200, description = "A page of agents.", body = wire::List<wire::Agent>))
)]
pub(crate) async fn list(
    app: Service,
    caller: Caller,
    query: QueryOf<wire::ListAgents>,
) -> Result<Json<wire::List<wire::Agent>>, ApiError> {
    let (filter, page) = query.0.parse()?;
    let listed = app.list_agents(&caller.0, filter, page).await?;
    Ok(Json(wire::List::new(listed, page, wire::Agent::from)))
}
