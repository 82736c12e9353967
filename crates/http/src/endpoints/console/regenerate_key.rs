//! `POST /v1/auth/keys/regenerate`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, NoBody},
    reply::Changed,
};

/// Replaces the organization's key.
///
/// The new key is shown only in this answer. When the answer arrives, no node accepts the old key anymore, so the
/// request takes a second. Agent-scoped keys stay as they are.
#[utoipa::path(
    post,
    path = "/v1/auth/keys/regenerate",
    operation_id = "regenerateKey",
    tag = "Console",
    responses((status = 200, description = "The key, with its secret.", body = wire::RegeneratedKey))
)]
pub(crate) async fn regenerate_key(
    app: Service,
    caller: Caller,
    _: NoBody,
) -> Result<Changed<wire::RegeneratedKey>, ApiError> {
    Ok(Changed(app.regenerate_key(&caller.0).await?))
}
