//! `POST /v1/availability-grants`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody},
    reply::Changed,
};

/// Has calendars of yours count as busy for agents.
///
/// Agents see that you are busy and nothing else. The calendars are read at once. A link that you follow is completed by naming
/// it: `audience` must cover the agent that asks then, and the connection be neither paused nor without consent.
#[utoipa::path(
    post,
    path = "/v1/availability-grants",
    operation_id = "createAvailabilityGrant",
    tag = "Human calendars",
    request_body = wire::CreateGrant,
    responses((status = 201, description = "The grant.", body = wire::AvailabilityGrant))
)]
pub(crate) async fn create(
    app: Service,
    caller: Caller,
    body: JsonBody<wire::CreateGrant>,
) -> Result<Changed, ApiError> {
    Ok(Changed(app.create_grant(&caller.0, body.0.parse()?).await?))
}
