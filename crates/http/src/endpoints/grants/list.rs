//! `GET /v1/availability-grants`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, QueryOf},
    list_page::ListPage,
};

/// Lists your grants, by which your calendars count as busy for agents, oldest first.
#[utoipa::path(
    get,
    path = "/v1/availability-grants",
    operation_id = "listAvailabilityGrants",
    tag = "Human calendars",
    params(wire::Paging),
    responses((status = 200, description = "A page of grants.", body = wire::List<wire::AvailabilityGrant>))
)]
pub(crate) async fn list(
    app: Service,
    caller: Caller,
    query: QueryOf<wire::Paging>,
) -> Result<ListPage<wire::AvailabilityGrant>, ApiError> {
    let page = query.0.parse()?;
    let listed = app.list_grants(&caller.0, page).await?;
    Ok(ListPage(wire::List::new(listed, page, |grant| grant)))
}
