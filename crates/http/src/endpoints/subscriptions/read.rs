//! `GET /v1/ical-subscriptions/{id}`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    reply::WithETag,
};

/// Returns an iCal subscription.
///
/// `last_error` says why the last sync failed, if it did. `last_sync` is the result of the last successful sync: what
/// was created, changed, deleted or skipped, and the warnings.
#[utoipa::path(
    get,
    path = "/v1/ical-subscriptions/{id}",
    operation_id = "getIcalSubscription",
    tag = "iCal subscriptions",
    params(("id" = String, Path, description = "The subscription, `isub_…`.")),
    responses((status = 200, description = "The subscription.", body = wire::Subscription))
)]
pub(crate) async fn read(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
) -> Result<WithETag<wire::Subscription>, ApiError> {
    let subscription = app.subscription(&caller.0, &id.0).await?;
    Ok(WithETag { resource: wire::Subscription::from(&subscription), version: subscription.version })
}
