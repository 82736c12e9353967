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
/// The feed's events are imported as read-only events that block availability, first at once and then every 15
/// minutes. Events that change in the feed change here, and events that are missing from it are deleted here. They
/// emit no webhook events and count only as `imported_events`. A sync that would exceed this limit imports nothing
/// and reports it in `last_error`. If a feed shrinks by more than half, it is fetched again after 5 minutes before
/// anything is deleted.
///
/// With `busy_only`, only the times of the events are imported, each with the title `Busy`.
///
/// Events that an earlier subscription of the calendar to the same `url` left behind are taken over. If the calendar is
/// subscribed to the feed already, the answer is 409 `conflict`, code `already_subscribed`. If the plan's number of
/// subscriptions is exceeded, it is 429 `quota_exceeded`.
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
) -> Result<Changed<wire::Subscription>, ApiError> {
    let (calendar, new) = body.0.parse(|host, port| app.may_reach(host, port)).map_err(ApiError::of_subscription)?;
    Ok(Changed(app.create_subscription(&caller.0, &agent.0, &calendar, new).await?))
}
