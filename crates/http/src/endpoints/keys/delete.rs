//! `DELETE /v1/keys/{id}`

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    reply::Changed,
};

/// Revokes an agent-scoped key.
///
/// When the answer arrives, no node accepts the key anymore, so the request takes a second.
#[utoipa::path(
    delete,
    path = "/v1/keys/{id}",
    operation_id = "deleteScopedKey",
    tag = "Keys",
    params(("id" = String, Path, description = "The key, `key_…`.")),
    responses((status = 204, description = "The key was revoked."))
)]
pub(crate) async fn delete(app: Service, caller: Caller, id: PathOf<String>) -> Result<Changed<()>, ApiError> {
    Ok(Changed(app.revoke_key(&caller.0, &id.0).await?))
}
