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
/// Decommissioned agents stay in the list, with their status. An agent's key with the scope `directory:org` sees its
/// own agent, and of the others only id, name and status. It cannot select them by `type`.
#[utoipa::path(
    get,
    path = "/v1/agents",
    operation_id = "listAgents",
    tag = "Agents",
    params(wire::ListAgents),
    responses((status = 200, description = "A page of agents.", body = wire::List<wire::ShownAgent>))
)]
pub(crate) async fn list(
    app: Service,
    caller: Caller,
    query: QueryOf<wire::ListAgents>,
) -> Result<ListPage<wire::ShownAgent>, ApiError> {
    let (filter, page) = query.0.parse()?;
    let listed = app.agent_directory(&caller.0, filter, page).await?;
    Ok(ListPage(wire::List::new(listed, page, |agent| agent)))
}
