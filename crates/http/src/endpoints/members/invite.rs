//! `POST /v1/auth/members`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody},
    reply::Changed,
};

/// Invites a person by email to become a member.
///
/// Owners and admins invite, with a role up to their own. The email contains a link that works for 7 days. If you invite
/// the same address again, only the new link works. An organization has at most 200 members; open invitations count.
#[utoipa::path(
    post,
    path = "/v1/auth/members",
    operation_id = "inviteMember",
    tag = "Members",
    request_body = wire::InviteMember,
    responses((status = 201, description = "The invitation.", body = wire::MemberInvitation))
)]
pub(crate) async fn invite(
    app: Service,
    caller: Caller,
    body: JsonBody<wire::InviteMember>,
) -> Result<Changed<wire::MemberInvitation>, ApiError> {
    let (email, role) = body.0.parse()?;
    Ok(Changed(app.invite_member(&caller.0, &email, role).await?))
}
