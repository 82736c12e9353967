//! `GET /v1/availability`

use axum::body::Bytes;
use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, QueryOf},
    reply::Written,
};

/// Returns the times at which several agents are all free.
///
/// This requires a paid plan. On other plans, the answer is 403 `plan_required`. The limits are 20 agents and 90 days
/// on Pro, and 50 agents and 365 days on Scale. Beyond them, the answer is 400 `bad_request`.
#[utoipa::path(
    get,
    path = "/v1/availability",
    operation_id = "getAvailability",
    tag = "Availability",
    params(wire::AcrossAgents),
    responses((status = 200, description = "The slots in which all agents are free.", body = wire::AgentAvailability))
)]
pub(crate) async fn across(
    app: Service,
    caller: Caller,
    query: QueryOf<wire::AcrossAgents>,
) -> Result<Written<Bytes>, ApiError> {
    Ok(Written(app.availability(&caller.0, query.0.parse()?).await?))
}
