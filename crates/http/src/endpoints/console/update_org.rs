//! `PATCH /v1/auth/org`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody},
    reply::Changed,
};

/// Renames the organization that the session is switched to.
///
/// Owners and admins do this. Emails show the new name from then on.
#[utoipa::path(
    patch,
    path = "/v1/auth/org",
    operation_id = "updateOrg",
    tag = "Console",
    request_body = wire::UpdateOrg,
    responses((status = 200, description = "The organization.", body = wire::Org))
)]
pub(crate) async fn update_org(
    app: Service,
    caller: Caller,
    body: JsonBody<wire::UpdateOrg>,
) -> Result<Changed<wire::Org>, ApiError> {
    Ok(Changed(app.update_org(&caller.0, body.0.parse()?).await?))
}
