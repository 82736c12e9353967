//! `GET /v1/scheduling/proposals`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, QueryOf},
    list_page::ListPage,
};

/// Lists proposals, oldest first.
///
/// An agent's key sees only the proposals that its agent organizes or participates in.
#[utoipa::path(
    get,
    path = "/v1/scheduling/proposals",
    operation_id = "listProposals",
    tag = "Proposals",
    params(wire::ListProposals),
    responses((status = 200, description = "A page of proposals.", body = wire::List<wire::ProposalSummary>))
)]
pub(crate) async fn list(
    app: Service,
    caller: Caller,
    query: QueryOf<wire::ListProposals>,
) -> Result<ListPage<wire::ProposalSummary>, ApiError> {
    let (wanted, page) = query.0.parse()?;
    let listed = app.list_proposals(&caller.0, (wanted, page)).await?;
    Ok(ListPage(wire::List::new(listed, page, |proposal| proposal)))
}
