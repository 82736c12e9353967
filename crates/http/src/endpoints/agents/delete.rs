//! `DELETE /v1/agents/{id}`

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf, Precondition},
    reply::Changed,
};

/// Decommissions an agent.
///
/// Its calendars and events are no longer visible, and they emit no events of their own. The agent itself stays
/// readable with the status `decommissioned`. Deleting it again changes nothing.
#[utoipa::path(
    delete,
    path = "/v1/agents/{id}",
    operation_id = "deleteAgent",
    tag = "Agents",
    params(("id" = String, Path, description = "The agent, `agt_…`.")),
    responses((status = 204, description = "The agent is decommissioned."))
)]
pub(crate) async fn delete(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    if_match: Precondition,
) -> Result<Changed<()>, ApiError> {
    Ok(Changed(app.delete_agent(&caller.0, &id.0, &if_match.0).await?))
}
