//! `PUT /v1/hold-sets/{id}/release`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, NoBody, PathOf, QueryOf},
    reply::Changed,
};

/// Releases all holds of a set.
///
/// The active holds become cancelled events. If none is active, the answer is 409 `conflict`, code `hold_expired` or
/// `not_a_hold`. Requires a paid plan.
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
) -> Result<Changed<wire::HoldSet>, ApiError> {
    let caller = caller.0.showing(query.0.local());
    Ok(Changed(app.release_hold_set(&caller, &id.0).await?))
}
