//! `POST /v1/ical-subscriptions/{id}/sync`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, NoBody, PathOf},
    reply::Changed,
};

/// Syncs an iCal subscription now.
///
/// If a sync is in progress, another one follows. A paused subscription is synced this one time. `last_synced_at` and
/// `last_error` show the result.
#[utoipa::path(
    post,
    path = "/v1/ical-subscriptions/{id}/sync",
    operation_id = "syncIcalSubscription",
    tag = "iCal subscriptions",
    params(("id" = String, Path, description = "The subscription, `isub_…`.")),
    responses((status = 202, description = "The subscription will be synced.", body = wire::Syncing))
)]
pub(crate) async fn sync(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    _: NoBody,
) -> Result<Changed<wire::Syncing>, ApiError> {
    Ok(Changed(app.ask_sync(&caller.0, &id.0).await?))
}
