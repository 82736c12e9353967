//! `POST /v1/calendar-connections/{id}/refresh`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, NoBody, PathOf},
    reply::Changed,
};

/// Refreshes a connected calendar account now.
///
/// Accounts are refreshed every 5 minutes anyway. If the account is `paused` or waits for your consent, the answer
/// is 409. `last_refreshed_at` and `last_error` show the result.
#[utoipa::path(
    post,
    path = "/v1/calendar-connections/{id}/refresh",
    operation_id = "refreshCalendarConnection",
    tag = "Human calendars",
    params(("id" = String, Path, description = "The connection, `con_…`.")),
    responses((status = 202, description = "The account will be refreshed.", body = wire::Refreshing))
)]
pub(crate) async fn refresh(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    _: NoBody,
) -> Result<Changed<wire::Refreshing>, ApiError> {
    Ok(Changed(app.ask_refresh(&caller.0, &id.0).await?))
}
