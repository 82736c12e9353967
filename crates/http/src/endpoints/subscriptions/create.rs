//! `POST /v1/agents/{agent_id}/ical-subscriptions`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody, PathOf},
    reply::Changed,
};

/// Subscribes a calendar to an iCal feed.
///
/// The feed's events are imported as read-only events that block availability, at once and every 15 minutes from then on;
/// what changes there changes here, and what is gone there is deleted here. They are
/// announced by no webhook and count as `imported_events` alone: a sync that would pass that limit imports nothing, and
/// `last_error` says so. A feed that shrinks by more than half is fetched again after 5 minutes before anything is deleted.
///
/// Events that an earlier subscription of the calendar to the same `url` left are taken over. Where the calendar is
/// subscribed to it now: 409 `conflict`, code `already_subscribed`. Over the plan's number of subscriptions: 429
/// `quota_exceeded`.
#[utoipa::path(
    post,
    path = "/v1/agents/{agent_id}/ical-subscriptions",
    operation_id = "createIcalSubscription",
    tag = "iCal subscriptions",
    params(("agent_id" = String, Path, description = "The agent, `agt_…`.")),
    request_body = wire::CreateSubscription,
    responses((status = 201, description = "The subscription, before its first sync.", body = wire::Subscription))
)]
pub(crate) async fn create(
    app: Service,
    caller: Caller,
    agent: PathOf<String>,
    body: JsonBody<wire::CreateSubscription>,
) -> Result<Changed, ApiError> {
    let (calendar, new) = body.0.parse(|host, port| app.may_reach(host, port)).map_err(ApiError::of_subscription)?;
    Ok(Changed(app.create_subscription(&caller.0, &agent.0, &calendar, new).await?))
}
