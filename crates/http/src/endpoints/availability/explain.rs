//! `GET /v1/availability/explain`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, QueryOf},
};

/// Explains why a time is not offered.
///
/// Returns every event, hold, busy time, buffer and closed hour that conflicts with the time, without titles. There are
/// no reasons if and only if availability would offer the time as a slot. `outside_range` occurs only if slots are
/// offered in a limited range, as on booking pages. Agents and calendars offer any time.
#[utoipa::path(
    get,
    path = "/v1/availability/explain",
    operation_id = "explainAvailability",
    tag = "Availability",
    params(wire::ExplainAvailability),
    responses((status = 200, description = "The reasons.", body = wire::Explanation))
)]
pub(crate) async fn explain(
    app: Service,
    caller: Caller,
    query: QueryOf<wire::ExplainAvailability>,
) -> Result<axum::Json<wire::Explanation>, ApiError> {
    Ok(axum::Json(app.explain_availability(&caller.0, query.0.parse()?).await?))
}
