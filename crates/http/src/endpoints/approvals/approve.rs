//! `POST /v1/approvals/{id}/approve`

use axum::Extension;
use kalends_wire as wire;

use crate::{
    approving::Maker,
    error::ApiError,
    extract::{Caller, NoBody, PathOf},
    reply::Changed,
};

/// Approves a write and makes it.
///
/// The request is made now, in the name of the key that asked. What the key reaches is checked again. If the request
/// succeeds, the approval is `approved`, and its `result` is the answer. If the request is refused, because a resource
/// has changed since, the time is taken, or the key was revoked, the approval is `failed`, and its `result` is the error.
/// If the service or a limit keeps the request from being made now, the answer is that error, and the approval stays
/// pending. A repetition changes nothing. An approval that is denied, cancelled or expired is 409 `conflict`, code
/// `approval_decided`. Not for agents' keys.
#[utoipa::path(
    post,
    path = "/v1/approvals/{id}/approve",
    operation_id = "approve",
    tag = "Approvals",
    params(("id" = String, Path, description = "The approval, `apr_…`.")),
    responses((status = 200, description = "The approval, `approved` or `failed`.", body = wire::Approval))
)]
pub(crate) async fn approve(
    maker: Extension<Maker>,
    caller: Caller,
    id: PathOf<String>,
    _: NoBody,
) -> Result<Changed<wire::Approval>, ApiError> {
    Ok(Changed(maker.0.approve(&caller.0, &id.0).await?))
}
