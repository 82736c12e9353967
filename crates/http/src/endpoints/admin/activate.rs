//! `POST /v1/admin/orgs/{id}/activate`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Anonymous, NoBody, PathOf},
    reply::Changed,
};

/// Activates an organization on the waiting list.
///
/// Requires the operator's token (`KALENDS_ADMIN_TOKEN`) as a bearer token. If none is configured, the route does not
/// exist. Wrong tokens are limited by address, together with attempts to sign in. The organization is notified by mail.
/// An organization that is not waiting stays as it is.
#[utoipa::path(
    post,
    path = "/v1/admin/orgs/{id}/activate",
    operation_id = "activateOrganization",
    tag = "Service",
    params(("id" = String, Path, description = "The organization, `org_…`.")),
    responses((status = 200, description = "The organization is active.", body = wire::JoinedWaitlist))
)]
pub(crate) async fn activate(
    app: Service,
    request: Anonymous,
    id: PathOf<String>,
    _body: NoBody,
) -> Result<Changed<wire::JoinedWaitlist>, ApiError> {
    Ok(Changed(app.0.activate(&request.0, &id.0).await?))
}
