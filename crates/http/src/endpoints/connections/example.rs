//! `POST /v1/calendar-connections/example`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, OptionalBody},
    reply::Changed,
};

/// Connects example calendars, whose busy times you draw.
///
/// They let you try connected calendars without an account anywhere. There are two, `Work` and `Private`, and both are
/// empty at first. You may have 5 such connections; then the answer is 409, code `too_many_examples`. If the operator
/// has not switched them on, it is 404.
#[utoipa::path(
    post,
    path = "/v1/calendar-connections/example",
    operation_id = "connectExample",
    tag = "Human calendars",
    request_body = Option<wire::ConnectExample>,
    responses((status = 201, description = "The new connection.", body = wire::CalendarConnection))
)]
pub(crate) async fn connect(
    app: Service,
    caller: Caller,
    body: OptionalBody<wire::ConnectExample>,
) -> Result<Changed<wire::CalendarConnection>, ApiError> {
    Ok(Changed(app.connect_example(&caller.0, body.0.link_id.as_deref()).await?))
}
