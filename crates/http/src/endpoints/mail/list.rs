//! `GET /v1/mail`

use axum::Json;
use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, QueryOf},
};

/// Lists the emails that Kalends sends for the organization, newest first.
///
/// Only for keys of the organization. The list covers the last 30 days: invitations, what guests and hosts of
/// bookings get, and questions to addresses. Emails about a person's own account are not in it. `last_reply` is what the mail server said last. To
/// continue, send `next_cursor` as `cursor` with the same filter until it is null.
#[utoipa::path(
    get,
    path = "/v1/mail",
    operation_id = "listMail",
    tag = "Mail",
    params(wire::ListMail),
    responses((status = 200, description = "A page of emails.", body = wire::MailList))
)]
pub(crate) async fn list(
    app: Service,
    caller: Caller,
    query: QueryOf<wire::ListMail>,
) -> Result<Json<wire::MailList>, ApiError> {
    Ok(Json(app.list_mail(&caller.0, query.0.parse()?).await?))
}
