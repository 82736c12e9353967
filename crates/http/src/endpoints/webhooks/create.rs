//! `POST /v1/webhooks`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody},
    reply::Changed,
};

/// Creates a webhook endpoint.
///
/// From now on, messages about events are posted to it. `webhooks` in this description lists the messages. The secret
/// is shown only in this answer. If the plan's number of endpoints is exceeded, the answer is 429 `quota_exceeded`.
#[utoipa::path(
    post,
    path = "/v1/webhooks",
    operation_id = "createWebhook",
    tag = "Webhooks",
    request_body = wire::CreateWebhook,
    responses((status = 201, description = "The endpoint, with its secret.", body = wire::NewWebhook))
)]
pub(crate) async fn create(
    app: Service,
    caller: Caller,
    body: JsonBody<wire::CreateWebhook>,
) -> Result<Changed<wire::NewWebhook>, ApiError> {
    let new = body.0.parse(|host, port| app.may_reach(host, port))?;
    Ok(Changed(app.create_webhook(&caller.0, new).await?))
}
