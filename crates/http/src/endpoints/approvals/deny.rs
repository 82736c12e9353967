//! `POST /v1/approvals/{id}/deny`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, OptionalBody, PathOf},
    reply::Changed,
};

/// Denies a write. Nothing is made, and the times that were reserved for it are free again.
///
/// The body may be left out. A repetition changes nothing. An approval that was decided otherwise, or expired, is 409
/// `conflict`, code `approval_decided`. Not for agents' keys.
#[utoipa::path(
    post,
    path = "/v1/approvals/{id}/deny",
    operation_id = "denyApproval",
    tag = "Approvals",
    params(("id" = String, Path, description = "The approval, `apr_…`.")),
    request_body = Option<wire::DenyApproval>,
    responses((status = 200, description = "The approval, `denied`.", body = wire::Approval))
)]
pub(crate) async fn deny(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    body: OptionalBody<wire::DenyApproval>,
) -> Result<Changed<wire::Approval>, ApiError> {
    let reason = body.0.parse()?;
    Ok(Changed(app.deny_approval(&caller.0, &id.0, reason).await?))
}
