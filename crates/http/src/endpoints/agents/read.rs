//! `GET /v1/agents/{id}`

use kalends_kernel::Version;
use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    reply::WithETag,
};

/// Returns an agent.
///
/// An agent's key with the scope `directory:org` also gets the id, the name and the status of another agent.
#[utoipa::path(
    get,
    path = "/v1/agents/{id}",
    operation_id = "getAgent",
    tag = "Agents",
    params(("id" = String, Path, description = "The agent, `agt_…`.")),
    responses((status = 200, description = "The agent.", body = wire::ShownAgent))
)]
pub(crate) async fn read(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
) -> Result<WithETag<wire::ShownAgent>, ApiError> {
    let (resource, version) = app.shown_agent(&caller.0, &id.0).await?;
    // A key that only sees the name learns nothing from the version, and no row has this one.
    Ok(WithETag { version: version.unwrap_or(Version(0)), resource })
}
