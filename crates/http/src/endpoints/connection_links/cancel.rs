//! `DELETE /v1/connection-links/{id}`

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    reply::Changed,
};

/// Cancels a connection link.
///
/// A link that a user has opened can be cancelled too. If the link has ended, the answer is 409 `conflict`, code
/// `link_over`. An existing connection stays.
#[utoipa::path(
    delete,
    path = "/v1/connection-links/{id}",
    operation_id = "cancelConnectionLink",
    tag = "Human calendars",
    params(("id" = String, Path, description = "The link, `cln_…`.")),
    responses((status = 204, description = "The link was cancelled."))
)]
pub(crate) async fn cancel(app: Service, caller: Caller, id: PathOf<String>) -> Result<Changed<()>, ApiError> {
    Ok(Changed(app.cancel_connection_link(&caller.0, &id.0).await?))
}
