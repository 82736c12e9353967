//! `PUT /v1/events/{id}/confirm`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, OptionalBody, PathOf, QueryOf},
    reply::Changed,
};

/// Confirms a hold.
///
/// The hold becomes a confirmed event. If the event is not an active hold, the answer is 409 `conflict`, with code
/// `hold_expired` if the hold expired and `not_a_hold` otherwise. With `if_as_of`, it is 409 with code `stale` if
/// something relevant changed since that availability answer. Emits `event.hold_confirmed`. Requires a paid plan.
#[utoipa::path(
    put,
    path = "/v1/events/{id}/confirm",
    operation_id = "confirmHold",
    tag = "Holds",
    params(("id" = String, Path, description = "The hold, `evt_…`."), wire::ShowEvents),
    request_body = Option<wire::ConfirmHold>,
    responses((status = 200, description = "The event.", body = wire::Event))
)]
pub(crate) async fn confirm(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    query: QueryOf<wire::ShowEvents>,
    body: OptionalBody<wire::ConfirmHold>,
) -> Result<Changed<wire::Event>, ApiError> {
    let if_as_of = body.0.parse()?;
    let caller = caller.0.showing(query.0.local());
    Ok(Changed(app.confirm_hold(&caller, &id.0, if_as_of.as_ref()).await?))
}
