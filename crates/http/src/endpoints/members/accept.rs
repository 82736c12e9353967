//! `POST /v1/auth/invitations/accept`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody},
    reply::Changed,
};

/// Accepts an invitation with the token from the email.
///
/// You must be signed in with the address that received it; this proves the address. Your session stays where it is:
/// switch it with `POST /v1/auth/orgs/{id}/switch`. If the token is unknown, used, withdrawn or more than 7 days old, the
/// answer is 400 with `param` `token`.
#[utoipa::path(
    post,
    path = "/v1/auth/invitations/accept",
    operation_id = "acceptInvitation",
    tag = "Members",
    request_body = wire::AcceptInvitation,
    responses((status = 200, description = "The organization and your role there.", body = wire::OwnOrg))
)]
pub(crate) async fn accept(
    app: Service,
    caller: Caller,
    body: JsonBody<wire::AcceptInvitation>,
) -> Result<Changed<wire::OwnOrg>, ApiError> {
    Ok(Changed(app.accept_invitation(&caller.0, &body.0.parse()?).await?))
}
