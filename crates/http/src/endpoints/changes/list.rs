//! `GET /v1/changes`

use axum::{
    Json,
    response::{IntoResponse as _, Response},
};
use kalends_wire as wire;

use super::stream;
use crate::{
    Service,
    enter::readmit,
    error::ApiError,
    extract::{Caller, QueryOf, Waiting},
};

/// Lists what changed in the organization, in an order that all readers agree on.
///
/// Without `since`, the answer has no entries, and its `next` is the present end. With the `next` of an earlier answer
/// as `since`, the answer has what changed after it, without gaps. Entries are kept for 7 days. `wait` lets the answer
/// come as soon as there is something. With `Accept: text/event-stream`, the answer is a stream of server-sent events
/// that goes on for up to 10 minutes; each event has a token as its `id`, and `Last-Event-ID` counts in place of
/// `since`. 410 `conflict`, code `resync`, means that the token is not one of the organization, or older than 7 days.
/// Then ask without `since` for `next`, read everything that you need, and continue from `next`. At most 10 requests of
/// a key wait at once. A tool call waits for at most 20 seconds. Not for agents' keys.
#[utoipa::path(
    get,
    path = "/v1/changes",
    operation_id = "listChanges",
    tag = "Changes",
    params(wire::ListOrganizationChanges),
    responses((
        status = 200,
        description = "A page of changes, or a stream of events.",
        content((wire::OrganizationChanges = "application/json"), (String = "text/event-stream"))
    ))
)]
pub(crate) async fn list(
    app: Service,
    caller: Caller,
    query: QueryOf<wire::ListOrganizationChanges>,
    waiting: Waiting,
) -> Result<Response, ApiError> {
    let mut query = query.0.parse()?;
    if waiting.wants_stream() {
        query.since = waiting.last_event_id().or(query.since);
        return stream::answer(app.0, caller.0, query, waiting.headers).await;
    }
    let wait = waiting.bounded(query.wait);
    let page = app.organization_changes(&caller.0, &query, wait).await?;
    if !wait.is_zero() {
        // The key may have been revoked in the meantime.
        readmit(&app, &waiting.headers, &caller.0).await?;
    }
    Ok(Json(page).into_response())
}
