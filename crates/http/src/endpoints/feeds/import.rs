//! `POST /v1/calendars/{id}/import`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, File, PathOf},
    reply::Changed,
};

/// Imports an iCalendar file into a calendar.
///
/// The body is the file (`text/calendar`, at most 10 MiB and 20,000 events). Its events become events of this calendar
/// like any other: they can be changed, are announced, and each new one counts in the month's events. An event is known by
/// its `UID`: imported once more, it is changed where the file says something else than before, and left alone where it
/// does not. Nothing is deleted. Series that repeat by a rule beyond those of this service become their occurrences from a
/// year ago to two years ahead. Events are committed 500 at a time: after a refusal, such as 429 `quota_exceeded`, those
/// before it are there, and the same file can be imported again.
#[utoipa::path(
    post,
    path = "/v1/calendars/{id}/import",
    operation_id = "importCalendar",
    tag = "Calendars",
    params(("id" = String, Path, description = "The calendar, `cal_…`.")),
    request_body(content = String, content_type = "text/calendar", description = "The file, RFC 5545."),
    responses((status = 200, description = "What became of the file's events.", body = wire::ImportReport))
)]
pub(crate) async fn import(app: Service, caller: Caller, id: PathOf<String>, file: File) -> Result<Changed, ApiError> {
    Ok(Changed(app.import_calendar(&caller.0, &id.0, file.0).await?))
}
