//! `DELETE /v1/availability-grants/{id}`

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    reply::Changed,
};

/// Deletes a grant, so that its calendars no longer count as busy because of it.
#[utoipa::path(
    delete,
    path = "/v1/availability-grants/{id}",
    operation_id = "deleteAvailabilityGrant",
    tag = "Human calendars",
    params(("id" = String, Path, description = "The grant, `grt_…`.")),
    responses((status = 204, description = "The grant was deleted."))
)]
pub(crate) async fn delete(app: Service, caller: Caller, id: PathOf<String>) -> Result<Changed<()>, ApiError> {
    Ok(Changed(app.delete_grant(&caller.0, &id.0).await?))
}
