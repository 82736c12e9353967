//! `DELETE /v1/calendars/{id}/availability-rules`

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf, Precondition},
    reply::Changed,
};

/// Deletes a calendar's availability rules.
///
/// From then on, nothing is restricted. If the calendar has no rules, the answer is 404, code
/// `availability_rules_not_found`.
#[utoipa::path(
    delete,
    path = "/v1/calendars/{id}/availability-rules",
    operation_id = "deleteAvailabilityRules",
    tag = "Availability",
    params(("id" = String, Path, description = "The calendar, `cal_…`.")),
    responses((status = 204, description = "The rules were deleted."))
)]
pub(crate) async fn delete(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    if_match: Precondition,
) -> Result<Changed<()>, ApiError> {
    Ok(Changed(app.delete_availability_rules(&caller.0, &id.0, &if_match.0).await?))
}
