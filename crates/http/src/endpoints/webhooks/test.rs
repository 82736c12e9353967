//! `POST /v1/webhooks/{id}/test`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, NoBody, PathOf},
    reply::Changed,
};

/// Sends a test to a webhook endpoint.
///
/// At once, also to one that is switched off, and the answer tells what came of it: it may take 15 seconds. The type is
/// `webhook.test`, which nobody subscribes to, and the payload the endpoint itself. It is tried once, counts like any
/// delivery, and is kept in the list of deliveries.
#[utoipa::path(
    post,
    path = "/v1/webhooks/{id}/test",
    operation_id = "testWebhook",
    tag = "Webhooks",
    params(("id" = String, Path, description = "The endpoint, `whk_…`.")),
    responses((status = 200, description = "What came of it.", body = wire::TestedDelivery))
)]
pub(crate) async fn test(app: Service, caller: Caller, id: PathOf<String>, _: NoBody) -> Result<Changed, ApiError> {
    Ok(Changed(app.test_webhook(&caller.0, &id.0).await?))
}
