//! `DELETE /v1/calendars/{id}/availability-rules`

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf, Precondition},
    reply::Changed,
};

/// Takes a calendar its availability rules.
///
/// From then on nothing is restricted. 404, code `availability_rules_not_found`, where it has none.
#[utoipa::path(
    delete,
    path = "/v1/calendars/{id}/availability-rules",
    operation_id = "deleteAvailabilityRules",
    tag = "Availability",
    params(("id" = String, Path, description = "The calendar, `cal_…`.")),
    responses((status = 204, description = "The rules are gone."))
)]
pub(crate) async fn delete(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    if_match: Precondition,
) -> Result<Changed, ApiError> {
    Ok(Changed(app.delete_availability_rules(&caller.0, &id.0, &if_match.0).await?))
}
