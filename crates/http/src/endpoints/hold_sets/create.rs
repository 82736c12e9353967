//! `POST /v1/hold-sets`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody, QueryOf},
    reply::Changed,
};

/// Places a hold on each of several calendars. Either all of them are placed or none.
///
/// An agent in `agent_ids` must have exactly one calendar, and gets the hold there. With the scope `holds:org`, an
/// agent's key places holds of priority 0 on any calendar of the organization. At most 20 of them are live at a time on
/// calendars of others; another one is 409 `conflict`, code `too_many_placed_holds`. Calendars of others are shown as
/// busy only.
///
/// If anything but a hold of a lower priority blocks one of the calendars, the answer is 409 `conflict`, code
/// `slot_taken`. The error lists everything that blocks in `conflicts`, and the three nearest times that are free on
/// all calendars in `nearest_free`. Each hold emits `event.hold_created` and counts as one event. Requires a paid plan.
#[utoipa::path(
    post,
    path = "/v1/hold-sets",
    operation_id = "createHoldSet",
    tag = "Holds",
    params(wire::ShowEvents),
    request_body = wire::CreateHoldSet,
    responses((status = 201, description = "The holds.", body = wire::HoldSet))
)]
pub(crate) async fn create(
    app: Service,
    caller: Caller,
    query: QueryOf<wire::ShowEvents>,
    body: JsonBody<wire::CreateHoldSet>,
) -> Result<Changed<wire::HoldSet>, ApiError> {
    let caller = caller.0.showing(query.0.local());
    Ok(Changed(app.create_hold_set(&caller, body.0.parse()?).await?))
}
