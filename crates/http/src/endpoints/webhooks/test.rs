//! `POST /v1/webhooks/{id}/test`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, NoBody, PathOf},
    reply::Changed,
};

/// Sends a test message to a webhook endpoint.
///
/// The message is sent at once, even if the endpoint is inactive, and the answer contains the result. This can take
/// 15 seconds. The type is `webhook.test`, to which no endpoint can subscribe, and the payload is the endpoint
/// itself. The test is attempted once, counts like any delivery, and is listed among the deliveries.
#[utoipa::path(
    post,
    path = "/v1/webhooks/{id}/test",
    operation_id = "testWebhook",
    tag = "Webhooks",
    params(("id" = String, Path, description = "The endpoint, `whk_…`.")),
    responses((status = 200, description = "The result of the test.", body = wire::TestedDelivery))
)]
pub(crate) async fn test(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    _: NoBody,
) -> Result<Changed<wire::TestedDelivery>, ApiError> {
    Ok(Changed(app.test_webhook(&caller.0, &id.0).await?))
}
