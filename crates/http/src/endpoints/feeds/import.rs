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
/// The body is the file (`text/calendar`, at most 10 MiB and 20,000 events). Its events become ordinary events of
/// this calendar: they can be changed, they emit webhook events, and each new one counts against the month's events.
/// Events are identified by their `UID`. If a file is imported again, an event is changed only if the file has
/// changed since the last import. Nothing is deleted. A series whose rule is not supported is replaced by its
/// occurrences from a year ago to two years ahead. A calendar that refuses conflicts leaves out events whose time is
/// taken, and the answer lists them in `refused`. Events are committed 500 at a time: after an error such as 429
/// `quota_exceeded`, the earlier batches stay, and the same file can be imported again.
#[utoipa::path(
    post,
    path = "/v1/calendars/{id}/import",
    operation_id = "importCalendar",
    tag = "Calendars",
    params(("id" = String, Path, description = "The calendar, `cal_…`.")),
    request_body(content = String, content_type = "text/calendar", description = "The file (RFC 5545)."),
    responses((status = 200, description = "The result of the import.", body = wire::ImportReport))
)]
pub(crate) async fn import(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    file: File,
) -> Result<Changed<wire::ImportReport>, ApiError> {
    Ok(Changed(app.import_calendar(&caller.0, &id.0, file.0).await?))
}
