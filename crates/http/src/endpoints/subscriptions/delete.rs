//! `DELETE /v1/ical-subscriptions/{id}`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf, Precondition, QueryOf},
    reply::Changed,
};

/// Deletes an iCal subscription.
///
/// Its imported events stay as they are and remain read-only. A new subscription of the same calendar to the same
/// address takes them over. With `events=delete`, they are deleted too, right after the answer.
#[utoipa::path(
    delete,
    path = "/v1/ical-subscriptions/{id}",
    operation_id = "deleteIcalSubscription",
    tag = "iCal subscriptions",
    params(("id" = String, Path, description = "The subscription, `isub_…`."), wire::DeleteSubscription),
    responses((status = 204, description = "The subscription was deleted."))
)]
pub(crate) async fn delete(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    query: QueryOf<wire::DeleteSubscription>,
    if_match: Precondition,
) -> Result<Changed<()>, ApiError> {
    let remains = query.0.parse()?;
    Ok(Changed(app.delete_subscription(&caller.0, &id.0, remains, &if_match.0).await?))
}
