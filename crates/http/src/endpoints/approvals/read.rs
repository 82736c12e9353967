//! `GET /v1/approvals/{id}`

use axum::Json;
use kalends_wire as wire;

use crate::{
    Service,
    enter::readmit,
    error::ApiError,
    extract::{Caller, PathOf, QueryOf, Waiting},
};

/// Returns an approval, with the result of its request once it is approved.
///
/// With `wait`, the answer to a pending approval comes as soon as it is decided, or when the wait is over. At most 10
/// requests of a key wait at once. A tool call waits for at most 20 seconds.
#[utoipa::path(
    get,
    path = "/v1/approvals/{id}",
    operation_id = "getApproval",
    tag = "Approvals",
    params(("id" = String, Path, description = "The approval, `apr_…`."), wire::WaitForApproval),
    responses((status = 200, description = "The approval.", body = wire::Approval))
)]
pub(crate) async fn read(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    query: QueryOf<wire::WaitForApproval>,
    waiting: Waiting,
) -> Result<Json<wire::Approval>, ApiError> {
    let wait = waiting.bounded(query.0.parse()?);
    let approval = app.approval(&caller.0, &id.0, wait).await?;
    if !wait.is_zero() {
        // The key may have been revoked in the meantime.
        readmit(&app, &waiting.headers, &caller.0).await?;
    }
    Ok(Json(approval))
}
