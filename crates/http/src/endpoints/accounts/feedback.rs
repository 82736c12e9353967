//! `POST /v1/feedback`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody},
    reply::Changed,
};

/// Sends feedback to the operator of the service.
///
/// It becomes a line of the operator's log and is stored nowhere else. 25 a UTC day and organization; over that 429
/// `quota_exceeded` until midnight.
#[utoipa::path(
    post,
    path = "/v1/feedback",
    operation_id = "sendFeedback",
    tag = "Accounts",
    request_body = wire::Feedback,
    responses((status = 200, description = "The feedback is taken in.", body = wire::Accepted))
)]
pub(crate) async fn feedback(
    app: Service,
    caller: Caller,
    body: JsonBody<wire::Feedback>,
) -> Result<Changed, ApiError> {
    Ok(Changed(app.feedback(&caller.0, &body.0.parse()?).await?))
}
