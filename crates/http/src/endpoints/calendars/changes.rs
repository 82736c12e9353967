//! `GET /v1/calendars/{id}/changes`

use axum::Json;
use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf, QueryOf},
};

/// Tells what changed, so that a copy of the calendar can be kept.
///
/// Without `since`: everything there is; then, with the `next` of the answer before, whatever changed since, each
/// event once in its present state. Apply `data` in order: an event replaces what the copy holds under its `id`,
/// `deleted` removes it. Series come once with their rule, changed occurrences as instances of their own. Go on at
/// once while `has_more`, and whenever you like after that. 410 `conflict`, code `resync`: the token is not one of
/// this calendar, or older than the 30 days for which deletions are kept; empty the copy and start again without
/// `since`.
#[utoipa::path(
    get,
    path = "/v1/calendars/{id}/changes",
    operation_id = "listCalendarChanges",
    tag = "Calendars",
    params(("id" = String, Path, description = "The calendar, `cal_…`."), wire::ListChanges),
    responses((status = 200, description = "A page of changes.", body = wire::Changes))
)]
pub(crate) async fn changes(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    query: QueryOf<wire::ListChanges>,
) -> Result<Json<wire::Changes>, ApiError> {
    Ok(Json(app.changes(&caller.0, &id.0, &query.0.parse()?).await?))
}
