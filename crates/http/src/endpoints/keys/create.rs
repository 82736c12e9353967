//! `POST /v1/keys`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody},
    new_key::wanted_key,
    reply::Changed,
};

/// Creates a key that is scoped to one agent.
///
/// The key itself is shown only in this answer. It gives access to the agent's calendars and everything on them, and
/// with `scopes` to a little of what belongs to others: `freebusy:org` to when they are busy, `directory:org` to their
/// names, `holds:org` to hold sets on their calendars. With `requires_approval`, its writes wait until a person allows
/// them. While the agent is paused, it can only read. Once the agent is decommissioned, it gives no access. Requires a
/// paid plan. If the plan's number of keys is exceeded, the answer is 429 `quota_exceeded`.
#[utoipa::path(
    post,
    path = "/v1/keys",
    operation_id = "createScopedKey",
    tag = "Keys",
    request_body = wire::CreateScopedKey,
    responses((status = 201, description = "The key, with its secret.", body = wire::NewScopedKey))
)]
pub(crate) async fn create(
    app: Service,
    caller: Caller,
    body: JsonBody<wire::CreateScopedKey>,
) -> Result<Changed<wire::NewScopedKey>, ApiError> {
    let wanted = wanted_key(body.0)?;
    Ok(Changed(app.create_key(&caller.0, &wanted).await?))
}
