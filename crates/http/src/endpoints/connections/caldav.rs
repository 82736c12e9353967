//! `POST /v1/calendar-connections/caldav`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody},
    reply::Changed,
};

/// Connects a calendar account at a CalDAV server, such as iCloud, Fastmail or Nextcloud.
///
/// The server is asked for the account's calendars before the answer. The user name and the password are sent only to
/// hosts of the domain in `url`. They are stored encrypted, and deleted with the connection. If you connected the
/// account before, the password is replaced, all choices made for the connection stay, and the answer is 200.
///
/// If the server refuses the password, the answer is 400 with `param` `password`; if it has no calendars for you, with
/// `param` `url`. If it does not answer in 25 s, it is 502, code `calendar_server_unavailable`. You may try 20 times an
/// hour; then the answer is 429, code `calendar_password_limit`. If the link asks for publishing, it is 409, code
/// `publishing_unsupported`.
#[utoipa::path(
    post,
    path = "/v1/calendar-connections/caldav",
    operation_id = "connectCaldav",
    tag = "Human calendars",
    request_body = wire::ConnectCaldav,
    responses(
        (status = 200, description = "The connection of a known account.", body = wire::CalendarConnection),
        (status = 201, description = "The new connection, before its first refresh.", body = wire::CalendarConnection)
    )
)]
pub(crate) async fn connect(
    app: Service,
    caller: Caller,
    body: JsonBody<wire::ConnectCaldav>,
) -> Result<Changed<wire::CalendarConnection>, ApiError> {
    let (checked, link) = body.0.parse(|host, port| app.may_reach(host, port))?;
    Ok(Changed(app.connect_caldav(&caller.0, checked.into(), link.as_deref()).await?))
}
