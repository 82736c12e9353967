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
/// The feedback is written to the operator's log and stored nowhere else. The limit is 25 per organization and UTC day.
/// Beyond it, the answer is 429 `quota_exceeded` until midnight UTC.
#[utoipa::path(
    post,
    path = "/v1/feedback",
    operation_id = "sendFeedback",
    tag = "Accounts",
    request_body = wire::Feedback,
    responses((status = 200, description = "The feedback was accepted.", body = wire::Accepted))
)]
pub(crate) async fn feedback(
    app: Service,
    caller: Caller,
    body: JsonBody<wire::Feedback>,
) -> Result<Changed<wire::Accepted>, ApiError> {
    Ok(Changed(app.feedback(&caller.0, &body.0.parse()?).await?))
}
