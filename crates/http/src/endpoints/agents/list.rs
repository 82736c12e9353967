//! `GET /v1/agents`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, QueryOf},
    list_page::ListPage,
};

/// Lists agents, oldest first.
///
/// Decommissioned agents stay in the list, with their status.
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
) -> Result<ListPage<wire::Agent>, ApiError> {
    let (filter, page) = query.0.parse()?;
    let listed = app.list_agents(&caller.0, filter, page).await?;
    Ok(ListPage(wire::List::new(listed, page, wire::Agent::from)))
}
