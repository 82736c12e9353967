//! `GET /v1/calendars/{id}/availability-rules`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    reply::WithETag,
};

/// Returns a calendar's availability rules.
///
/// If the calendar has no rules, nothing is restricted, and the answer is 404, code `availability_rules_not_found`.
#[utoipa::path(
    get,
    path = "/v1/calendars/{id}/availability-rules",
    operation_id = "getAvailabilityRules",
    tag = "Availability",
    params(("id" = String, Path, description = "The calendar, `cal_…`.")),
    responses((status = 200, description = "The rules.", body = wire::AvailabilityRules))
)]
pub(crate) async fn read(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
) -> Result<WithETag<wire::AvailabilityRules>, ApiError> {
    let rules = app.availability_rules(&caller.0, &id.0).await?;
    Ok(WithETag { version: rules.version, resource: rules.into() })
}
