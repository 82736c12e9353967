//! `POST /v1/auth/keys/scoped`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody},
    new_key::wanted_key,
    reply::Changed,
};

/// Creates a key that is scoped to one agent, like `POST /v1/keys`.
#[utoipa::path(
    post,
    path = "/v1/auth/keys/scoped",
    operation_id = "createScopedKeyFromConsole",
    tag = "Console",
    request_body = wire::CreateScopedKey,
    responses((status = 201, description = "The key, with its secret.", body = wire::NewScopedKey))
)]
pub(crate) async fn create_key(
    app: Service,
    caller: Caller,
    body: JsonBody<wire::CreateScopedKey>,
) -> Result<Changed<wire::NewScopedKey>, ApiError> {
    let wanted = wanted_key(body.0)?;
    Ok(Changed(app.create_key(&caller.0, &wanted).await?))
}
