//! `PUT /v1/calendars/{cal_id}/external-destination`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody, PathOf, Precondition},
    reply::Changed,
};

/// Publishes the events of a calendar to a calendar of your connected account.
///
/// Upcoming events are copied there within seconds, and later changes follow. Copies contain nothing about attendees,
/// so the provider invites nobody. A copy that you change or delete is left alone. With another
/// `external_calendar_id`, the other copies move there. Answers 409 with code `publishing_unsupported` for a Google
/// account, `consent_required` if you did not consent to publishing, and `destination_elsewhere` if the calendar is
/// published to another account.
#[utoipa::path(
    put,
    path = "/v1/calendars/{cal_id}/external-destination",
    operation_id = "putExternalDestination",
    tag = "Human calendars",
    params(("cal_id" = String, Path, description = "The calendar, `cal_…`.")),
    request_body = wire::PutExternalDestination,
    responses((status = 200, description = "The destination.", body = wire::ExternalDestination))
)]
pub(crate) async fn put(
    app: Service,
    caller: Caller,
    cal_id: PathOf<String>,
    if_match: Precondition,
    body: JsonBody<wire::PutExternalDestination>,
) -> Result<Changed<wire::ExternalDestination>, ApiError> {
    Ok(Changed(app.put_destination(&caller.0, &cal_id.0, body.0.parse()?, &if_match.0).await?))
}
