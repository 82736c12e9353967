//! `GET /v1/webhooks/{id}`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    reply::WithETag,
};

/// Returns a webhook endpoint.
///
/// The secret is not shown. `deactivated_reason` says why the service deactivated the endpoint, if it did.
#[utoipa::path(
    get,
    path = "/v1/webhooks/{id}",
    operation_id = "getWebhook",
    tag = "Webhooks",
    params(("id" = String, Path, description = "The endpoint, `whk_…`.")),
    responses((status = 200, description = "The endpoint.", body = wire::Webhook))
)]
pub(crate) async fn read(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
) -> Result<WithETag<wire::Webhook>, ApiError> {
    let endpoint = app.webhook(&caller.0, &id.0).await?;
    Ok(WithETag { resource: wire::Webhook::from(&endpoint), version: endpoint.version })
}
