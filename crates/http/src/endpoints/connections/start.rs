//! `POST /v1/calendar-connections/oauth/{provider}/start`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody, PathOf},
    reply::Bound,
};

/// Asks for your consent at a calendar provider.
///
/// Send the browser to `authorization_url`. A cookie binds the attempt to this browser for 10 minutes. If the operator
/// has not configured the provider, the answer is 404. If `publishing` is true or the link asks for it, and the provider
/// is `google`, it is 409, code `publishing_unsupported`.
#[utoipa::path(
    post,
    path = "/v1/calendar-connections/oauth/{provider}/start",
    operation_id = "startCalendarConnection",
    tag = "Human calendars",
    params(("provider" = String, Path, description = "The provider: `google` or `microsoft`.")),
    request_body = wire::StartConnection,
    responses((status = 200, description = "The address on which to consent.", body = wire::ConsentBegun))
)]
pub(crate) async fn start(
    app: Service,
    caller: Caller,
    provider: PathOf<String>,
    body: JsonBody<wire::StartConnection>,
) -> Result<Bound, ApiError> {
    let wire::StartConnection { connection_link_id: link, publishing } = body.0;
    Ok(Bound::new(&app, app.begin_connection(&caller.0, &provider.0, link.as_deref(), publishing).await?))
}
