//! `GET /v1/webhooks`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, QueryOf},
    list_page::ListPage,
};

/// Lists webhook endpoints, oldest first.
///
/// The secrets are not shown. A page has 20 entries by default.
#[utoipa::path(
    get,
    path = "/v1/webhooks",
    operation_id = "listWebhooks",
    tag = "Webhooks",
    params(wire::WebhookPaging),
    responses((status = 200, description = "A page of endpoints.", body = wire::List<wire::Webhook>))
)]
pub(crate) async fn list(
    app: Service,
    caller: Caller,
    query: QueryOf<wire::WebhookPaging>,
) -> Result<ListPage<wire::Webhook>, ApiError> {
    let page = query.0.parse()?;
    let listed = app.list_webhooks(&caller.0, page).await?;
    Ok(ListPage(wire::List::new(listed, page, |endpoint| wire::Webhook::from(&endpoint))))
}
