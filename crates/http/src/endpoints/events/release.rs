//! `PUT /v1/events/{id}/release`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, NoBody, PathOf, QueryOf},
    reply::Changed,
};

/// Releases a hold.
///
/// The hold becomes a cancelled event, and its time is free. If the event is not an active hold, the answer is 409
/// `conflict`, with code `hold_expired` if the hold expired and `not_a_hold` otherwise. Emits `event.hold_released`.
/// Requires a paid plan.
#[utoipa::path(
    put,
    path = "/v1/events/{id}/release",
    operation_id = "releaseHold",
    tag = "Holds",
    params(("id" = String, Path, description = "The hold, `evt_…`."), wire::ShowEvents),
    responses((status = 200, description = "The event.", body = wire::Event))
)]
pub(crate) async fn release(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    query: QueryOf<wire::ShowEvents>,
    _: NoBody,
) -> Result<Changed<wire::Event>, ApiError> {
    let caller = caller.0.showing(query.0.local());
    Ok(Changed(app.release_hold(&caller, &id.0).await?))
}
