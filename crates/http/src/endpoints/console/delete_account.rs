//! `DELETE /v1/auth/account`

use crate::{Service, error::ApiError, extract::Caller, reply::Ended};

/// Deletes the organization in front of which the session stands, with everything that it has, for good.
///
/// No key of it is accepted from the answer on, and all sessions of whoever is signed in end. They stay where they own
/// another organization, and go with this one where they do not. Within a minute nothing is left but the record of
/// accepted terms, which does not tell whose it was.
#[utoipa::path(
    delete,
    path = "/v1/auth/account",
    operation_id = "deleteAccount",
    tag = "Console",
    responses((status = 204, description = "The account is gone."))
)]
pub(crate) async fn delete_account(app: Service, caller: Caller) -> Result<Ended, ApiError> {
    let answer = app.delete_account(&caller.0).await?;
    Ok(Ended::new(&app, answer))
}
