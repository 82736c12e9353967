//! `POST /v1/calendar-connections/oauth/{provider}/start`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody, PathOf},
    reply::Bound,
};

/// Asks for your consent at a provider of calendars.
///
/// Send the browser to `authorization_url`. A cookie binds the attempt to it for 10 minutes. 404 for a provider that the operator
/// has not configured; 409, code `publishing_unsupported`, where a link asks for publishing and the provider is `google`.
#[utoipa::path(
    post,
    path = "/v1/calendar-connections/oauth/{provider}/start",
    operation_id = "startCalendarConnection",
    tag = "Human calendars",
    params(("provider" = String, Path, description = "`google` or `microsoft`.")),
    request_body = wire::StartConnection,
    responses((status = 200, description = "Where to go.", body = wire::ConsentBegun))
)]
pub(crate) async fn start(
    app: Service,
    caller: Caller,
    provider: PathOf<String>,
    body: JsonBody<wire::StartConnection>,
) -> Result<Bound, ApiError> {
    let link = body.0.connection_link_id;
    Ok(Bound::new(&app, app.begin_connection(&caller.0, &provider.0, link.as_deref()).await?))
}
