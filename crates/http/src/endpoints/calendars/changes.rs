//! `GET /v1/calendars/{id}/changes`

use axum::Json;
use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf, QueryOf},
};

/// Lists what changed on a calendar, to keep a copy up to date.
///
/// Without `since`, the answer lists everything. With the `next` token of the previous answer as `since`, it lists
/// what changed since then, with each event once in its current state. Apply `data` in order: an event replaces the
/// one with the same `id` in the copy, and `deleted` removes it. A series is listed once with its rule, and its
/// changed occurrences are listed as separate instances. While `has_more` is true, continue at once; after that,
/// continue whenever you like. 410 `conflict`, code `resync`, means that the token is of another calendar or older
/// than the 30 days for which deletions are kept. Then empty the copy and start again without `since`.
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
