//! `DELETE /v1/ical-subscriptions/{id}`

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf, Precondition},
    reply::Changed,
};

/// Ends an iCal subscription.
///
/// Its imported events remain as they are, and read-only.
#[utoipa::path(
    delete,
    path = "/v1/ical-subscriptions/{id}",
    operation_id = "deleteIcalSubscription",
    tag = "iCal subscriptions",
    params(("id" = String, Path, description = "The subscription, `isub_…`.")),
    responses((status = 204, description = "The subscription is gone."))
)]
pub(crate) async fn delete(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    if_match: Precondition,
) -> Result<Changed, ApiError> {
    Ok(Changed(app.delete_subscription(&caller.0, &id.0, &if_match.0).await?))
}
