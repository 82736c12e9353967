//! `GET /v1/calendars/{cal_id}/events`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf, QueryOf},
    list_page::ListPage,
};

/// Lists the events of a calendar, sorted by start.
#[utoipa::path(
    get,
    path = "/v1/calendars/{cal_id}/events",
    operation_id = "listCalendarEvents",
    tag = "Events",
    params(("cal_id" = String, Path, description = "The calendar, `cal_…`."), wire::ListEvents),
    responses((status = 200, description = "A page of events.", body = wire::List<wire::Event>))
)]
pub(crate) async fn list(
    app: Service,
    caller: Caller,
    calendar: PathOf<String>,
    query: QueryOf<wire::ListEvents>,
) -> Result<ListPage<wire::Event>, ApiError> {
    let (listing, page) = query.0.parse(app.now())?;
    let caller = caller.0.showing(query.0.local.unwrap_or(false));
    let listed = app.list_calendar_events(&caller, &calendar.0, listing, page).await?;
    let zones = app.local_zones(&caller, &listed.data).await?;
    Ok(ListPage(wire::List::new(listed, page, |event| zones.to_wire(event))))
}
