//! `GET /v1/agents/{agent_id}/ical-subscriptions`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf, QueryOf},
    list_page::ListPage,
};

/// Lists the iCal subscriptions of an agent, oldest first.
#[utoipa::path(
    get,
    path = "/v1/agents/{agent_id}/ical-subscriptions",
    operation_id = "listIcalSubscriptions",
    tag = "iCal subscriptions",
    params(("agent_id" = String, Path, description = "The agent, `agt_…`."), wire::ListSubscriptions),
    responses((status = 200, description = "A page of subscriptions.", body = wire::List<wire::Subscription>))
)]
pub(crate) async fn list(
    app: Service,
    caller: Caller,
    agent: PathOf<String>,
    query: QueryOf<wire::ListSubscriptions>,
) -> Result<ListPage<wire::Subscription>, ApiError> {
    let (status, page) = query.0.parse()?;
    let listed = app.list_subscriptions(&caller.0, &agent.0, (status, page)).await?;
    Ok(ListPage(wire::List::new(listed, page, |subscription| wire::Subscription::from(&subscription))))
}
