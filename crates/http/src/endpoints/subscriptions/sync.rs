//! `POST /v1/ical-subscriptions/{id}/sync`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, NoBody, PathOf},
    reply::Changed,
};

/// Has an iCal subscription synced at once.
///
/// One that is being synced is synced once more; one that is paused is synced this once. `last_synced_at` and
/// `last_error` tell how it ended.
#[utoipa::path(
    post,
    path = "/v1/ical-subscriptions/{id}/sync",
    operation_id = "syncIcalSubscription",
    tag = "iCal subscriptions",
    params(("id" = String, Path, description = "The subscription, `isub_…`.")),
    responses((status = 202, description = "It will be synced.", body = wire::Syncing))
)]
pub(crate) async fn sync(app: Service, caller: Caller, id: PathOf<String>, _: NoBody) -> Result<Changed, ApiError> {
    Ok(Changed(app.ask_sync(&caller.0, &id.0).await?))
}
