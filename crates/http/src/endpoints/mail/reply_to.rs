//! `/v1/mail/reply-to`

use axum::Json;
use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody},
    reply::{Changed, Fresh},
};

/// Returns the address that replies to the organization's emails go to.
#[utoipa::path(
    get,
    path = "/v1/mail/reply-to",
    operation_id = "getReplyTo",
    tag = "Mail",
    responses((status = 200, description = "The addresses.", body = wire::ReplyTo))
)]
pub(crate) async fn read(app: Service, caller: Caller) -> Result<Json<wire::ReplyTo>, ApiError> {
    Ok(Json(app.reply_to(&caller.0).await?))
}

/// Asks an address by email whether replies to the organization's emails may go to it.
///
/// The email has a link to agree, which works for 7 days. Until then the address that agreed before stays in use. An
/// address that has agreed already is not asked again.
#[utoipa::path(
    put,
    path = "/v1/mail/reply-to",
    operation_id = "putReplyTo",
    tag = "Mail",
    request_body = wire::PutReplyTo,
    responses((status = 200, description = "The addresses.", body = wire::ReplyTo))
)]
pub(crate) async fn put(
    app: Service,
    caller: Caller,
    body: JsonBody<wire::PutReplyTo>,
) -> Result<Fresh<Changed<wire::ReplyTo>>, ApiError> {
    Ok(Fresh(Changed(app.ask_for_replies(&caller.0, &body.0.parse()?).await?)))
}

/// Removes the addresses for replies. Nobody reads replies to the organization's emails then.
#[utoipa::path(
    delete,
    path = "/v1/mail/reply-to",
    operation_id = "deleteReplyTo",
    tag = "Mail",
    responses((status = 204, description = "There is no address for replies."))
)]
pub(crate) async fn delete(app: Service, caller: Caller) -> Result<Changed<()>, ApiError> {
    Ok(Changed(app.remove_reply_to(&caller.0).await?))
}
