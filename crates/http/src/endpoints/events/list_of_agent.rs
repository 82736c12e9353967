//! `GET /v1/agents/{agent_id}/events`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf, QueryOf},
    list_page::ListPage,
};

/// Lists the events on all calendars of an agent, sorted by start.
#[utoipa::path(
    get,
    path = "/v1/agents/{agent_id}/events",
    operation_id = "listAgentEvents",
    tag = "Events",
    params(("agent_id" = String, Path, description = "The agent, `agt_…`."), wire::ListEvents),
    responses((status = 200, description = "A page of events.", body = wire::List<wire::Event>))
)]
pub(crate) async fn list_of_agent(
    app: Service,
    caller: Caller,
    agent: PathOf<String>,
    query: QueryOf<wire::ListEvents>,
) -> Result<ListPage<wire::Event>, ApiError> {
    let (listing, page) = query.0.parse(app.now())?;
    let caller = caller.0.showing(query.0.local.unwrap_or(false));
    let listed = app.list_agent_events(&caller, &agent.0, listing, page).await?;
    let zones = app.local_zones(&caller, &listed.data).await?;
    Ok(ListPage(wire::List::new(listed, page, |event| zones.to_wire(event))))
}
