//! `DELETE /v1/account`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, QueryOf},
    reply::Changed,
};

/// Deletes the organization with everything that it has, for good.
///
/// For keys of the organization; `confirm` names it once more. From the answer on no key of it is accepted, and
/// within a minute nothing of it is left but the record of accepted terms, which does not tell whose it was.
#[utoipa::path(
    delete,
    path = "/v1/account",
    operation_id = "deleteAccount",
    tag = "Accounts",
    params(wire::DeleteAccount),
    responses((status = 204, description = "The account is gone."))
)]
pub(crate) async fn delete(
    app: Service,
    caller: Caller,
    query: QueryOf<wire::DeleteAccount>,
) -> Result<Changed, ApiError> {
    Ok(Changed(app.delete_account(&caller.0, &query.0).await?))
}
