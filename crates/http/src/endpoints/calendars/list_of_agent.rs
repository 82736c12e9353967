//! `GET /v1/agents/{agent_id}/calendars`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf, QueryOf},
    list_page::ListPage,
};

/// Lists the calendars of an agent, oldest first.
#[utoipa::path(
    get,
    path = "/v1/agents/{agent_id}/calendars",
    operation_id = "listAgentCalendars",
    tag = "Calendars",
    params(("agent_id" = String, Path, description = "The agent, `agt_…`."), wire::Paging),
    responses((status = 200, description = "A page of calendars.", body = wire::List<wire::Calendar>))
)]
pub(crate) async fn list_of_agent(
    app: Service,
    caller: Caller,
    agent: PathOf<String>,
    query: QueryOf<wire::Paging>,
) -> Result<ListPage<wire::Calendar>, ApiError> {
    let page = query.0.parse()?;
    let listed = app.list_agent_calendars(&caller.0, &agent.0, page).await?;
    let base_url = &app.settings().base_url;
    Ok(ListPage(wire::List::new(listed, page, |calendar| wire::Calendar::new(calendar, base_url))))
}
