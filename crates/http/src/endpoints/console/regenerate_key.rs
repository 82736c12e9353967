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
/// The new one is shown in this answer alone. Once it is there no node accepts the old one any more, which takes a second.
/// Keys that speak for agents stay as they are.
#[utoipa::path(
    post,
    path = "/v1/auth/keys/regenerate",
    operation_id = "regenerateKey",
    tag = "Console",
    responses((status = 200, description = "The key, with its text.", body = wire::RegeneratedKey))
)]
pub(crate) async fn regenerate_key(app: Service, caller: Caller, _: NoBody) -> Result<Changed, ApiError> {
    Ok(Changed(app.regenerate_key(&caller.0).await?))
}
