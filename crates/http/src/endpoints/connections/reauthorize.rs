//! `POST /v1/calendar-connections/{id}/reauthorize`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, NoBody, PathOf},
    reply::Bound,
};

/// Asks for your consent to a connection again.
///
/// Use it if the connection's status is `reauthorization_required`. Send the browser to `authorization_url`, and
/// choose the same account there.
#[utoipa::path(
    post,
    path = "/v1/calendar-connections/{id}/reauthorize",
    operation_id = "reauthorizeCalendarConnection",
    tag = "Human calendars",
    params(("id" = String, Path, description = "The connection, `con_…`.")),
    responses((status = 200, description = "The address on which to consent.", body = wire::ConsentBegun))
)]
pub(crate) async fn reauthorize(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    _: NoBody,
) -> Result<Bound, ApiError> {
    Ok(Bound::new(&app, app.begin_reauthorization(&caller.0, &id.0).await?))
}
