//! `POST /v1/webhooks/{id}/rotate-secret`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, NoBody, PathOf},
    reply::Changed,
};

/// Replaces the secret of a webhook endpoint.
///
/// The new secret is shown only in this answer. From now on, `X-Signature` is made with the new secret. For 24 hours,
/// messages are also signed with the old secret, so that receivers can switch: `X-Signature-Previous` is made with it,
/// and `webhook-signature` lists both signatures. An even older secret stops signing at once.
#[utoipa::path(
    post,
    path = "/v1/webhooks/{id}/rotate-secret",
    operation_id = "rotateWebhookSecret",
    tag = "Webhooks",
    params(("id" = String, Path, description = "The endpoint, `whk_…`.")),
    responses((status = 200, description = "The new secret.", body = wire::WebhookSecret))
)]
pub(crate) async fn rotate_secret(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    _: NoBody,
) -> Result<Changed<wire::WebhookSecret>, ApiError> {
    Ok(Changed(app.rotate_webhook_secret(&caller.0, &id.0).await?))
}
