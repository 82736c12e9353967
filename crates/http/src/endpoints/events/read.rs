//! `GET /v1/calendars/{cal_id}/events/{id}`

use kalends_app::EventPath;
use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf, QueryOf},
    reply::WithETag,
};

/// Returns an event.
#[utoipa::path(
    get,
    path = "/v1/calendars/{cal_id}/events/{id}",
    operation_id = "getCalendarEvent",
    tag = "Events",
    params(("cal_id" = String, Path, description = "The calendar, `cal_…`."), ("id" = String, Path, description = "The event, `evt_…`, or an instance of a series."), wire::ShowEvents),
    responses((status = 200, description = "The event.", body = wire::Event))
)]
pub(crate) async fn read(
    app: Service,
    caller: Caller,
    path: PathOf<(String, String)>,
    query: QueryOf<wire::ShowEvents>,
) -> Result<WithETag<wire::Event>, ApiError> {
    let caller = caller.0.showing(query.0.local());
    let event = app.event(&caller, EventPath { calendar: Some(&path.0.0), id: &path.0.1 }).await?;
    let zones = app.local_zones(&caller, std::slice::from_ref(&event)).await?;
    Ok(WithETag { version: event.version, resource: zones.to_wire(event) })
}
