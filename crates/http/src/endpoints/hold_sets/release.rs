//! `PUT /v1/hold-sets/{id}/release`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, NoBody, PathOf, QueryOf},
    reply::Changed,
};

/// Gives all holds of a set up.
///
/// Those that are live become cancelled events. Where none is: 409 `conflict`, `hold_expired` or `not_a_hold`.
/// Needs a paid plan.
#[utoipa::path(
    put,
    path = "/v1/hold-sets/{id}/release",
    operation_id = "releaseHoldSet",
    tag = "Holds",
    params(("id" = String, Path, description = "The hold set, `hst_…`."), wire::ShowEvents),
    responses((status = 200, description = "The events.", body = wire::HoldSet))
)]
pub(crate) async fn release(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    query: QueryOf<wire::ShowEvents>,
    _: NoBody,
) -> Result<Changed, ApiError> {
    let caller = caller.0.showing(query.0.local());
    Ok(Changed(app.release_hold_set(&caller, &id.0).await?))
}
