//! `GET /v1/calendars/{cal_id}/external-destination`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    reply::WithETag,
};

/// Returns where the events of a calendar are published.
///
/// If they are not published to an account of yours, the answer is 404, code `external_destination_not_found`.
#[utoipa::path(
    get,
    path = "/v1/calendars/{cal_id}/external-destination",
    operation_id = "getExternalDestination",
    tag = "Human calendars",
    params(("cal_id" = String, Path, description = "The calendar, `cal_…`.")),
    responses((status = 200, description = "The destination.", body = wire::ExternalDestination))
)]
pub(crate) async fn read(
    app: Service,
    caller: Caller,
    cal_id: PathOf<String>,
) -> Result<WithETag<wire::ExternalDestination>, ApiError> {
    let (resource, version) = app.destination(&caller.0, &cal_id.0).await?;
    Ok(WithETag { version, resource })
}
