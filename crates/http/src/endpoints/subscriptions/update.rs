//! `PATCH /v1/ical-subscriptions/{id}`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody, PathOf, Precondition},
    reply::Changed,
};

/// Changes an iCal subscription.
///
/// Another `url` is synced at once: events that the feed there does not have are deleted. `status` `paused` ends the
/// syncs until it is `active` again.
#[utoipa::path(
    patch,
    path = "/v1/ical-subscriptions/{id}",
    operation_id = "updateIcalSubscription",
    tag = "iCal subscriptions",
    params(("id" = String, Path, description = "The subscription, `isub_…`.")),
    request_body = wire::UpdateSubscription,
    responses((status = 200, description = "The subscription.", body = wire::Subscription))
)]
pub(crate) async fn update(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    if_match: Precondition,
    body: JsonBody<wire::UpdateSubscription>,
) -> Result<Changed, ApiError> {
    // A field that cannot be cleared is no address (ruling 2.3).
    let cleared = body.0.clears_url();
    let patch = body.0.parse(|host, port| app.may_reach(host, port));
    let patch = patch.map_err(|errors| if cleared { errors.into() } else { ApiError::of_subscription(errors) })?;
    Ok(Changed(app.update_subscription(&caller.0, &id.0, patch, &if_match.0).await?))
}
