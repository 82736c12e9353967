//! `GET /v1/calendars`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, QueryOf},
    list_page::ListPage,
};

/// Lists the calendars of all agents, oldest first.
///
/// `include=all` adds the calendars that the organization shares.
#[utoipa::path(
    get,
    path = "/v1/calendars",
    operation_id = "listCalendars",
    tag = "Calendars",
    params(wire::ListCalendars),
    responses((status = 200, description = "A page of calendars.", body = wire::List<wire::Calendar>))
)]
pub(crate) async fn list(
    app: Service,
    caller: Caller,
    query: QueryOf<wire::ListCalendars>,
) -> Result<ListPage<wire::Calendar>, ApiError> {
    let (filter, page) = query.0.parse()?;
    let listed = app.list_calendars(&caller.0, filter, page).await?;
    let base_url = &app.settings().base_url;
    Ok(ListPage(wire::List::new(listed, page, |calendar| wire::Calendar::new(calendar, base_url))))
}
