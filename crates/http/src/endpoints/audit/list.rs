//! `GET /v1/audit-log`

use axum::Json;
use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, QueryOf},
};

/// Lists the audit log, newest entry first.
///
/// Only for keys of the organization. The log goes back as many days as the plan retains (`retention_days`; null
/// means forever). If `from` is older, the range starts at the oldest retained entry, and `range_clamped` is true. To
/// continue, send `next_cursor` as `cursor` with the same filters until it is null. Failures because of
/// authentication or rate limits are sampled: at most one per minute, key and action.
#[utoipa::path(
    get,
    path = "/v1/audit-log",
    operation_id = "listAuditLog",
    tag = "Accounts",
    params(wire::ListAudit),
    responses((status = 200, description = "A page of the log.", body = wire::AuditLog))
)]
pub(crate) async fn list(
    app: Service,
    caller: Caller,
    query: QueryOf<wire::ListAudit>,
) -> Result<Json<wire::AuditLog>, ApiError> {
    Ok(Json(app.audit_log(&caller.0, query.0.parse()?).await?))
}
