//! `PUT /v1/calendars/{id}/availability-rules`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody, PathOf, Precondition},
    reply::Changed,
};

/// Sets a calendar's availability rules.
///
/// Buffers widen everything that blocks on this calendar. Time outside the working hours is not offered. The request
/// replaces all existing rules: a field that is left out gets its default. The rules apply to the availability of the
/// calendar, of its agent and across agents.
#[utoipa::path(
    put,
    path = "/v1/calendars/{id}/availability-rules",
    operation_id = "putAvailabilityRules",
    tag = "Availability",
    params(("id" = String, Path, description = "The calendar, `cal_…`.")),
    request_body = wire::PutAvailabilityRules,
    responses((status = 200, description = "The rules.", body = wire::AvailabilityRules))
)]
pub(crate) async fn put(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    if_match: Precondition,
    body: JsonBody<wire::PutAvailabilityRules>,
) -> Result<Changed<wire::AvailabilityRules>, ApiError> {
    Ok(Changed(app.put_availability_rules(&caller.0, &id.0, body.0.parse()?, &if_match.0).await?))
}
