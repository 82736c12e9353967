//! `GET /v1/approvals`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, QueryOf},
    list_page::ListPage,
};

/// Lists approvals, newest first, without their results.
///
/// An agent's key sees only what keys of its agent asked for. An approval is kept for 30 days after its decision.
#[utoipa::path(
    get,
    path = "/v1/approvals",
    operation_id = "listApprovals",
    tag = "Approvals",
    params(wire::ListApprovals),
    responses((status = 200, description = "A page of approvals.", body = wire::List<wire::Approval>))
)]
pub(crate) async fn list(
    app: Service,
    caller: Caller,
    query: QueryOf<wire::ListApprovals>,
) -> Result<ListPage<wire::Approval>, ApiError> {
    let (status, agent, page) = query.0.parse()?;
    let listed = app.list_approvals(&caller.0, status, agent.as_deref(), page).await?;
    Ok(ListPage(wire::List::new(listed, page, |approval| approval)))
}
