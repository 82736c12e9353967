//! `DELETE /v1/calendar-connections/{id}`

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    reply::Changed,
};

/// Disconnects a calendar account.
///
/// All data of the account is deleted: its credentials, its calendars, their busy times and its part in grants. Then
/// the consent is revoked at the provider if the provider supports that (Google does) and you have no other
/// connection that depends on it.
#[utoipa::path(
    delete,
    path = "/v1/calendar-connections/{id}",
    operation_id = "deleteCalendarConnection",
    tag = "Human calendars",
    params(("id" = String, Path, description = "The connection, `con_…`.")),
    responses((status = 204, description = "The connection was deleted."))
)]
pub(crate) async fn delete(app: Service, caller: Caller, id: PathOf<String>) -> Result<Changed<()>, ApiError> {
    Ok(Changed(app.delete_connection(&caller.0, &id.0).await?))
}
