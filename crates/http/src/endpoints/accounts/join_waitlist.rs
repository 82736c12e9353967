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
/// A new address gets 201 and a confirmation by mail. An address that is already waiting gets 200 and no second mail.
/// An address that has an account gets 409, code `email_taken`. You get an email when the account is activated.
#[utoipa::path(
    post,
    path = "/v1/waitlist",
    operation_id = "joinWaitlist",
    tag = "Accounts",
    request_body = wire::JoinWaitlist,
    responses(
        (status = 200, description = "The address is already on the waiting list.", body = wire::JoinedWaitlist),
        (status = 201, description = "The address was added to the waiting list.", body = wire::JoinedWaitlist),
    )
)]
pub(crate) async fn join_waitlist(
    app: Service,
    request: Anonymous,
    body: JsonBody<wire::JoinWaitlist>,
) -> Result<Changed<wire::JoinedWaitlist>, ApiError> {
    Ok(Changed(app.join_waitlist(&request.0, body.0.parse()?).await?))
}
