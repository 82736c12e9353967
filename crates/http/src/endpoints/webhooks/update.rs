//! `PATCH /v1/webhooks/{id}`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody, PathOf, Precondition},
    reply::Changed,
};

/// Changes a webhook endpoint.
///
/// At least one field is required. `active: false` pauses the endpoint: no new messages are addressed to it, and
/// deliveries that fall due fail. `active: true` and a new `url` both forget its past failures; only `active: true`
/// switches it on.
#[utoipa::path(
    patch,
    path = "/v1/webhooks/{id}",
    operation_id = "updateWebhook",
    tag = "Webhooks",
    params(("id" = String, Path, description = "The endpoint, `whk_…`.")),
    request_body = wire::UpdateWebhook,
    responses((status = 200, description = "The endpoint.", body = wire::Webhook))
)]
pub(crate) async fn update(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    if_match: Precondition,
    body: JsonBody<wire::UpdateWebhook>,
) -> Result<Changed<wire::Webhook>, ApiError> {
    let patch = body.0.parse(|host, port| app.may_reach(host, port))?;
    Ok(Changed(app.update_webhook(&caller.0, &id.0, patch, &if_match.0).await?))
}
