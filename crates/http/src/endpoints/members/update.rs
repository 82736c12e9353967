//! `PATCH /v1/auth/members/{id}`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody, PathOf},
    reply::Changed,
};

/// Changes the role of a member.
///
/// Owners and admins do this, up to their own role. The new role counts from the member's next request. The organization
/// keeps at least one owner.
#[utoipa::path(
    patch,
    path = "/v1/auth/members/{id}",
    operation_id = "updateMember",
    tag = "Members",
    params(("id" = String, Path, description = "The member, `usr_…`.")),
    request_body = wire::UpdateMember,
    responses((status = 200, description = "The member.", body = wire::Member))
)]
pub(crate) async fn update(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    body: JsonBody<wire::UpdateMember>,
) -> Result<Changed<wire::Member>, ApiError> {
    Ok(Changed(app.update_member(&caller.0, &id.0, body.0.parse()?).await?))
}
