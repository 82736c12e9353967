//! `DELETE /v1/auth/account`

use crate::{Service, error::ApiError, extract::Caller, reply::Ended};

/// Deletes the organization that the session is switched to, with all of its data, permanently.
///
/// Only an owner can do this. When the answer arrives, none of its keys is accepted anymore, and all of your sessions
/// end. You and the other members keep your accounts if you belong to another organization; otherwise they are deleted
/// too. Within a minute, nothing is left except the record of accepted terms, which does not show whose it was.
#[utoipa::path(
    delete,
    path = "/v1/auth/account",
    operation_id = "deleteAccount",
    tag = "Console",
    responses((status = 204, description = "The organization was deleted."))
)]
pub(crate) async fn delete_account(app: Service, caller: Caller) -> Result<Ended, ApiError> {
    let answer = app.delete_account(&caller.0).await?;
    Ok(Ended::new(&app, answer))
}
