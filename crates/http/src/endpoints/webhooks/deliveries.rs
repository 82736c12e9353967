//! `GET /v1/webhooks/{id}/deliveries`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf, QueryOf},
    list_page::DeliveryPage,
};

/// Lists the deliveries of a webhook endpoint, oldest message first.
///
/// The list covers the last 30 days, with 20 entries per page by default. `stats` counts all of them.
#[utoipa::path(
    get,
    path = "/v1/webhooks/{id}/deliveries",
    operation_id = "listWebhookDeliveries",
    tag = "Webhooks",
    params(("id" = String, Path, description = "The endpoint, `whk_…`."), wire::ListDeliveries),
    responses((status = 200, description = "A page of deliveries.", body = wire::DeliveryList))
)]
pub(crate) async fn deliveries(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    query: QueryOf<wire::ListDeliveries>,
) -> Result<DeliveryPage, ApiError> {
    let filter = query.0.parse()?;
    Ok(DeliveryPage(app.list_deliveries(&caller.0, &id.0, filter).await?))
}
