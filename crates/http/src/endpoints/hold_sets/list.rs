//! `GET /v1/hold-sets`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, QueryOf},
    list_page::ListPage,
};

/// Lists hold sets, oldest first.
///
/// A set is listed as long as one of its events is left. Each event shows its current status. An agent's key sees the
/// sets whose events are all on calendars of its agent, and with the scope `holds:org` those that it placed on calendars
/// of others.
#[utoipa::path(
    get,
    path = "/v1/hold-sets",
    operation_id = "listHoldSets",
    tag = "Holds",
    params(wire::ListHoldSets),
    responses((status = 200, description = "A page of hold sets.", body = wire::List<wire::HoldSet>))
)]
pub(crate) async fn list(
    app: Service,
    caller: Caller,
    query: QueryOf<wire::ListHoldSets>,
) -> Result<ListPage<wire::HoldSet>, ApiError> {
    let (status, page) = query.0.parse()?;
    let listed = app.list_hold_sets(&caller.0, status, page).await?;
    Ok(ListPage(wire::List::new(listed, page, |set| set)))
}
