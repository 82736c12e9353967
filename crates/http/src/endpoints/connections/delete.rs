//! `DELETE /v1/calendar-connections/{id}`

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    reply::Changed,
};

/// Disconnects a calendar account.
///
/// Whatever is known of the account is deleted: what opens it, its calendars, their busy times, and its part in grants. Then the
/// provider is told to forget the consent, where it can be (Google) and nothing else of yours lives by it.
#[utoipa::path(
    delete,
    path = "/v1/calendar-connections/{id}",
    operation_id = "deleteCalendarConnection",
    tag = "Human calendars",
    params(("id" = String, Path, description = "The connection, `con_…`.")),
    responses((status = 204, description = "The connection is gone."))
)]
pub(crate) async fn delete(app: Service, caller: Caller, id: PathOf<String>) -> Result<Changed, ApiError> {
    Ok(Changed(app.delete_connection(&caller.0, &id.0).await?))
}
