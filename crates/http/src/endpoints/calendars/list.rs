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
/// `include=all` adds the calendars that the organization shares. An agent's key sees the calendars of its agent, and
/// with the scope `directory:org` also the id, the name and the zone of each shared calendar, whatever `include` says.
#[utoipa::path(
    get,
    path = "/v1/calendars",
    operation_id = "listCalendars",
    tag = "Calendars",
    params(wire::ListCalendars),
    responses((status = 200, description = "A page of calendars.", body = wire::List<wire::ShownCalendar>))
)]
pub(crate) async fn list(
    app: Service,
    caller: Caller,
    query: QueryOf<wire::ListCalendars>,
) -> Result<ListPage<wire::ShownCalendar>, ApiError> {
    let (filter, page) = query.0.parse()?;
    let listed = app.calendar_directory(&caller.0, filter, page).await?;
    Ok(ListPage(wire::List::new(listed, page, |calendar| calendar)))
}
