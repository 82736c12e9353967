//! `POST /v1/approvals/{id}/cancel`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, NoBody, PathOf},
    reply::Changed,
};

/// Cancels a write that waits for approval. The times that were reserved for it are free again.
///
/// A repetition changes nothing. An approval that was decided, or expired, is 409 `conflict`, code `approval_decided`.
#[utoipa::path(
    post,
    path = "/v1/approvals/{id}/cancel",
    operation_id = "cancelApproval",
    tag = "Approvals",
    params(("id" = String, Path, description = "The approval, `apr_…`.")),
    responses((status = 200, description = "The approval, `cancelled`.", body = wire::Approval))
)]
pub(crate) async fn cancel(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    _: NoBody,
) -> Result<Changed<wire::Approval>, ApiError> {
    Ok(Changed(app.cancel_approval(&caller.0, &id.0).await?))
}
