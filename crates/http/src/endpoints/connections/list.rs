//! `GET /v1/calendar-connections`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, QueryOf},
    list_page::ListPage,
};

/// Lists the calendar accounts that you connected, oldest first.
#[utoipa::path(
    get,
    path = "/v1/calendar-connections",
    operation_id = "listCalendarConnections",
    tag = "Human calendars",
    params(wire::Paging),
    responses((status = 200, description = "A page of connections.", body = wire::List<wire::CalendarConnection>))
)]
pub(crate) async fn list(
    app: Service,
    caller: Caller,
    query: QueryOf<wire::Paging>,
) -> Result<ListPage<wire::CalendarConnection>, ApiError> {
    let page = query.0.parse()?;
    let listed = app.list_connections(&caller.0, page).await?;
    Ok(ListPage(wire::List::new(listed, page, |connection| connection)))
}
