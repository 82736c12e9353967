//! `DELETE /v1/webhooks/{id}`

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf, Precondition},
    reply::Changed,
};

/// Deletes a webhook endpoint.
///
/// Only messages that are being sent right now still reach it. Its deliveries can no longer be read.
#[utoipa::path(
    delete,
    path = "/v1/webhooks/{id}",
    operation_id = "deleteWebhook",
    tag = "Webhooks",
    params(("id" = String, Path, description = "The endpoint, `whk_…`.")),
    responses((status = 204, description = "The endpoint was deleted."))
)]
pub(crate) async fn delete(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    if_match: Precondition,
) -> Result<Changed<()>, ApiError> {
    Ok(Changed(app.delete_webhook(&caller.0, &id.0, &if_match.0).await?))
}
