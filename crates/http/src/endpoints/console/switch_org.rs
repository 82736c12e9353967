//! `POST /v1/auth/orgs/{id}/switch`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, NoBody, PathOf},
    reply::Changed,
};

/// Switches the session to another one of your organizations.
///
/// Your other sessions stay in their organizations.
#[utoipa::path(
    post,
    path = "/v1/auth/orgs/{id}/switch",
    operation_id = "switchOrg",
    tag = "Console",
    params(("id" = String, Path, description = "The organization, `org_…`.")),
    responses((status = 200, description = "The user and the organization.", body = wire::Me))
)]
pub(crate) async fn switch_org(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    _: NoBody,
) -> Result<Changed<wire::Me>, ApiError> {
    Ok(Changed(app.switch_org(&caller.0, &id.0).await?))
}
