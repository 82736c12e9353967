//! `GET /v1/events/search`

use axum::Json;
use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, QueryOf},
};

/// Finds events by words in their titles, descriptions and locations.
///
/// Case and accents make no difference, and a word is also found within a longer one. A request searches at most 366 days
/// and 5,000 events. If there is more, `next` is the `cursor` of the next request. Send the other parameters again with
/// it. The titles of events are encrypted at rest: the events are read and compared, and no index holds their words.
#[utoipa::path(
    get,
    path = "/v1/events/search",
    operation_id = "searchEvents",
    tag = "Events",
    params(wire::SearchEvents),
    responses((status = 200, description = "The events that were found.", body = wire::FoundEvents))
)]
pub(crate) async fn search(
    app: Service,
    caller: Caller,
    query: QueryOf<wire::SearchEvents>,
) -> Result<Json<wire::FoundEvents>, ApiError> {
    let wanted = query.0.parse(app.now())?;
    let caller = caller.0.showing(query.0.local.unwrap_or(false));
    Ok(Json(app.search_events(&caller, &wanted).await?))
}
