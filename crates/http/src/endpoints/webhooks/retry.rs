//! `POST /v1/webhooks/{id}/deliveries/{delivery_id}/retry`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, NoBody, PathOf},
    reply::Changed,
};

/// Sends a delivery again.
///
/// The delivery is sent at once with the same identifier, whatever its status. A skipped delivery now counts against
/// the quota. If it is being sent right now, the answer is 409 `conflict`, code `delivery_in_flight`. If the endpoint
/// is inactive, it is 409 `conflict`, code `webhook_inactive`.
#[utoipa::path(
    post,
    path = "/v1/webhooks/{id}/deliveries/{delivery_id}/retry",
    operation_id = "retryWebhookDelivery",
    tag = "Webhooks",
    params(
        ("id" = String, Path, description = "The endpoint, `whk_…`."),
        ("delivery_id" = String, Path, description = "The delivery, `whd_…`.")
    ),
    responses((status = 200, description = "The delivery that will be sent.", body = wire::Delivery))
)]
pub(crate) async fn retry(
    app: Service,
    caller: Caller,
    path: PathOf<(String, String)>,
    _: NoBody,
) -> Result<Changed<wire::Delivery>, ApiError> {
    let (id, delivery) = path.0;
    Ok(Changed(app.retry_delivery(&caller.0, &id, &delivery).await?))
}
