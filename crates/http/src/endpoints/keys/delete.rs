//! `DELETE /v1/keys/{id}`

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    reply::Changed,
};

/// Revokes a key that speaks for an agent.
///
/// Once this is answered no node accepts the key any more, which takes a second.
#[utoipa::path(
    delete,
    path = "/v1/keys/{id}",
    operation_id = "deleteScopedKey",
    tag = "Keys",
    params(("id" = String, Path, description = "The key, `key_…`.")),
    responses((status = 204, description = "The key opens nothing any more."))
)]
pub(crate) async fn delete(app: Service, caller: Caller, id: PathOf<String>) -> Result<Changed, ApiError> {
    Ok(Changed(app.revoke_key(&caller.0, &id.0).await?))
}
