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
/// A new `url` is synced at once, and events that are missing from its feed are deleted. The `status` `paused` stops
/// syncs until it is set to `active` again. A change of `busy_only` is synced at once too, unless the subscription is
/// paused: `true` drops the stored texts of all its events, and `false` imports them again.
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
) -> Result<Changed<wire::Subscription>, ApiError> {
    // Null is an attempt to clear a required field, not an invalid address.
    let cleared = body.0.clears_url();
    let patch = body.0.parse(|host, port| app.may_reach(host, port));
    let patch = patch.map_err(|errors| if cleared { errors.into() } else { ApiError::of_subscription(errors) })?;
    Ok(Changed(app.update_subscription(&caller.0, &id.0, patch, &if_match.0).await?))
}
