//! `GET /v1/events/{id}`

use kalends_app::EventPath;
use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf, QueryOf},
    reply::WithETag,
};

/// Returns an event by its identifier alone.
#[utoipa::path(
    get,
    path = "/v1/events/{id}",
    operation_id = "getEvent",
    tag = "Events",
    params(("id" = String, Path, description = "The event, `evt_…`, or an instance of a series."), wire::ShowEvents),
    responses((status = 200, description = "The event.", body = wire::Event))
)]
pub(crate) async fn read_by_id(
    app: Service,
    caller: Caller,
    path: PathOf<String>,
    query: QueryOf<wire::ShowEvents>,
) -> Result<WithETag<wire::Event>, ApiError> {
    let caller = caller.0.showing(query.0.local());
    let event = app.event(&caller, EventPath { calendar: None, id: &path.0 }).await?;
    let zones = app.local_zones(&caller, std::slice::from_ref(&event)).await?;
    Ok(WithETag { version: event.version, resource: zones.to_wire(event) })
}
