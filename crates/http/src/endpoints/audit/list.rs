//! `GET /v1/audit-log`

use axum::Json;
use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, QueryOf},
};

/// Reads the audit log, the newest entry first.
///
/// For keys of the organization. The log reaches back as many days as the plan keeps (`retention_days`; null is
/// without end): a `from` before that is read as the beginning of what is kept, and `range_clamped` says so. Go on with
/// `cursor` and the same filters while `next_cursor` is not null. Failures of authentication and of rate limits are
/// sampled: at most one a minute, key and action.
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
