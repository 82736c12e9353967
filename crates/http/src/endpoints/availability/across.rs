//! `GET /v1/availability`

use axum::body::Bytes;
use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, QueryOf},
    reply::Written,
};

/// Tells when several agents are all free.
///
/// Paid plans only: 403 `plan_required`. Up to 20 agents and 90 days on Pro, 50 and 365 on Scale; over that 400
/// `bad_request`.
#[utoipa::path(
    get,
    path = "/v1/availability",
    operation_id = "getAvailability",
    tag = "Availability",
    params(wire::AcrossAgents),
    responses((status = 200, description = "The slots in which all are free.", body = wire::AgentAvailability))
)]
pub(crate) async fn across(
    app: Service,
    caller: Caller,
    query: QueryOf<wire::AcrossAgents>,
) -> Result<Written<Bytes>, ApiError> {
    Ok(Written(app.availability(&caller.0, query.0.parse()?).await?))
}
