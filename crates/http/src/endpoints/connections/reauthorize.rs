//! `POST /v1/calendar-connections/{id}/reauthorize`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, OptionalBody, PathOf},
    reply::Bound,
};

/// Asks for your consent to a connection again.
///
/// Use it if the connection's status is `reauthorization_required`. Send the browser to `authorization_url`, and
/// choose the same account there. With `publishing`, the consent also allows events to be written to the account. For
/// a Google account, the answer is then 409, code `publishing_unsupported`. An account at a CalDAV server has no such
/// consent (404): connect it again with its new password.
#[utoipa::path(
    post,
    path = "/v1/calendar-connections/{id}/reauthorize",
    operation_id = "reauthorizeCalendarConnection",
    tag = "Human calendars",
    params(("id" = String, Path, description = "The connection, `con_…`.")),
    request_body = Option<wire::ReauthorizeConnection>,
    responses((status = 200, description = "The address on which to consent.", body = wire::ConsentBegun))
)]
pub(crate) async fn reauthorize(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    body: OptionalBody<wire::ReauthorizeConnection>,
) -> Result<Bound, ApiError> {
    Ok(Bound::new(&app, app.begin_reauthorization(&caller.0, &id.0, body.0.publishing).await?))
}
