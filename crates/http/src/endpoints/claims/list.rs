//! `GET /v1/auth/claims`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, QueryOf},
    list_page::ListPage,
};

/// Lists your claims, oldest first.
///
/// A claim whose hold is over has taken effect. Claims that did not take effect are deleted after 30 days.
#[utoipa::path(
    get,
    path = "/v1/auth/claims",
    operation_id = "listClaims",
    tag = "Claims",
    params(wire::Paging),
    responses((status = 200, description = "A page of claims.", body = wire::List<wire::AccountClaim>))
)]
pub(crate) async fn list(
    app: Service,
    caller: Caller,
    query: QueryOf<wire::Paging>,
) -> Result<ListPage<wire::AccountClaim>, ApiError> {
    let page = query.0.parse()?;
    let listed = app.list_claims(&caller.0, page).await?;
    Ok(ListPage(wire::List::new(listed, page, |claim| claim)))
}
