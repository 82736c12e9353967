//! `POST /v1/waitlist`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Anonymous, JsonBody},
    reply::Changed,
};

/// Joins the waiting list.
///
/// 201 and a confirmation by mail for an address that is new, 200 and no second mail for one that waits already, 409
/// code `email_taken` for one that has an account. You will get an email when the account is activated.
#[utoipa::path(
    post,
    path = "/v1/waitlist",
    operation_id = "joinWaitlist",
    tag = "Accounts",
    request_body = wire::JoinWaitlist,
    responses(
        (status = 200, description = "The address waits already.", body = wire::JoinedWaitlist),
        (status = 201, description = "The address is on the waiting list.", body = wire::JoinedWaitlist),
    )
)]
pub(crate) async fn join_waitlist(
    app: Service,
    request: Anonymous,
    body: JsonBody<wire::JoinWaitlist>,
) -> Result<Changed, ApiError> {
    Ok(Changed(app.join_waitlist(&request.0, body.0.parse()?).await?))
}
