//! `POST /v1/agent/sign-up`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Anonymous, JsonBody},
    reply::Changed,
};

/// Signs an agent up.
///
/// A new address gets an organization in the sandbox, its first agent and its key, which works at once. A verification
/// code follows by mail. A known address gets only the message, which is the same for all addresses.
#[utoipa::path(
    post,
    path = "/v1/agent/sign-up",
    operation_id = "agentSignUp",
    tag = "Accounts",
    request_body = wire::SignUp,
    responses((status = 200, description = "The new organization and its key. For a known address, only the message.", body = wire::SignUpAnswer))
)]
pub(crate) async fn sign_up(
    app: Service,
    request: Anonymous,
    body: JsonBody<wire::SignUp>,
) -> Result<Changed<wire::SignUpAnswer>, ApiError> {
    Ok(Changed(app.sign_up(&request.0, body.0.parse()?).await?))
}
