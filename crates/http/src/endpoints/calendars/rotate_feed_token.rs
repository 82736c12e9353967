//! `POST /v1/calendars/{id}/ical-token/rotate`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, NoBody, PathOf},
    reply::Changed,
};

/// Replaces the address of a calendar's feed.
///
/// The old address stops working at once.
#[utoipa::path(
    post,
    path = "/v1/calendars/{id}/ical-token/rotate",
    operation_id = "rotateCalendarFeedToken",
    tag = "Calendars",
    params(("id" = String, Path, description = "The calendar, `cal_…`.")),
    responses((status = 200, description = "The calendar.", body = wire::Calendar))
)]
pub(crate) async fn rotate_feed_token(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    _: NoBody,
) -> Result<Changed<wire::Calendar>, ApiError> {
    Ok(Changed(app.rotate_feed_token(&caller.0, &id.0).await?))
}
