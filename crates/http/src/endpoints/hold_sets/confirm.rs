//! `PUT /v1/hold-sets/{id}/confirm`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, OptionalBody, PathOf, QueryOf},
    reply::Changed,
};

/// Confirms all holds of a set. Either all of them are confirmed or none.
///
/// Each hold becomes a confirmed event. If one of them is no longer an active hold, nothing changes, and the answer is
/// 409 `conflict`, code `hold_expired` or `not_a_hold`. With `if_as_of`, it is 409 with code `stale` if something
/// relevant changed since that availability answer, which must cover all calendars of the set. Deleted holds do not
/// count. Requires a paid plan.
#[utoipa::path(
    put,
    path = "/v1/hold-sets/{id}/confirm",
    operation_id = "confirmHoldSet",
    tag = "Holds",
    params(("id" = String, Path, description = "The hold set, `hst_…`."), wire::ShowEvents),
    request_body = Option<wire::ConfirmHold>,
    responses((status = 200, description = "The events.", body = wire::HoldSet))
)]
pub(crate) async fn confirm(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    query: QueryOf<wire::ShowEvents>,
    body: OptionalBody<wire::ConfirmHold>,
) -> Result<Changed<wire::HoldSet>, ApiError> {
    let if_as_of = body.0.parse()?;
    let caller = caller.0.showing(query.0.local());
    Ok(Changed(app.confirm_hold_set(&caller, &id.0, if_as_of.as_ref()).await?))
}
