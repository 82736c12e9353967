//! `POST /v1/availability-grants`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody},
    reply::Changed,
};

/// Makes your calendars count as busy for agents.
///
/// Agents see only when you are busy. The calendars are read at once. To complete a connection link that you opened,
/// name it: `audience` must then cover the agent that asks, and the connection must not be paused or wait for your
/// consent.
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
) -> Result<Changed<wire::AvailabilityGrant>, ApiError> {
    Ok(Changed(app.create_grant(&caller.0, body.0.parse()?).await?))
}
