//! `POST /v1/agents/{agent_id}/calendars`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody, PathOf},
    reply::Changed,
};

/// Creates a calendar that an agent owns.
#[utoipa::path(
    post,
    path = "/v1/agents/{agent_id}/calendars",
    operation_id = "createAgentCalendar",
    tag = "Calendars",
    params(("agent_id" = String, Path, description = "The agent, `agt_…`.")),
    request_body = wire::CreateCalendar,
    responses((status = 201, description = "The calendar.", body = wire::Calendar))
)]
pub(crate) async fn create_for_agent(
    app: Service,
    caller: Caller,
    agent: PathOf<String>,
    body: JsonBody<wire::CreateCalendar>,
) -> Result<Changed<wire::Calendar>, ApiError> {
    Ok(Changed(app.create_calendar(&caller.0, Some(&agent.0), body.0.parse()?).await?))
}
