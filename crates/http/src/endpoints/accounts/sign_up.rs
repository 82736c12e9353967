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
/// For a new address: an organization in the sandbox, its first agent and its key, which works at once. A code
/// follows by mail. For a known address only the message, the same for all.
#[utoipa::path(
    post,
    path = "/v1/agent/sign-up",
    operation_id = "agentSignUp",
    tag = "Accounts",
    request_body = wire::SignUp,
    responses((status = 200, description = "The new organization and its key; for a known address the message alone.", body = wire::SignUpAnswer))
)]
pub(crate) async fn sign_up(
    app: Service,
    request: Anonymous,
    body: JsonBody<wire::SignUp>,
) -> Result<Changed, ApiError> {
    Ok(Changed(app.sign_up(&request.0, body.0.parse()?).await?))
}
