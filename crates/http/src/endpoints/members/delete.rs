//! `DELETE /v1/auth/members/{id}`

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    reply::Changed,
};

/// Removes a member, or withdraws an invitation.
///
/// Everybody can leave by naming themselves, except for the last owner. Owners and admins remove others whose role is not
/// above their own. The calendars that the member connected to this organization no longer count. A user who belongs to
/// no other organization is deleted.
#[utoipa::path(
    delete,
    path = "/v1/auth/members/{id}",
    operation_id = "deleteMember",
    tag = "Members",
    params(("id" = String, Path, description = "The member, `usr_…`, or the invitation, `inv_…`.")),
    responses((status = 204, description = "The member was removed, or the invitation withdrawn."))
)]
pub(crate) async fn delete(app: Service, caller: Caller, id: PathOf<String>) -> Result<Changed<()>, ApiError> {
    Ok(Changed(app.remove_member(&caller.0, &id.0).await?))
}
