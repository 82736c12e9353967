//! `POST /v1/keys`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody},
    reply::Changed,
};

/// Makes a key that speaks for one agent.
///
/// The key itself is shown in this answer alone. It reaches the agent's calendars and what hangs on them; while the
/// agent is paused it only reads, and once the agent is decommissioned it opens nothing. Paid plans; over the plan's
/// number of keys: 429 `quota_exceeded`.
#[utoipa::path(
    post,
    path = "/v1/keys",
    operation_id = "createScopedKey",
    tag = "Keys",
    request_body = wire::CreateScopedKey,
    responses((status = 201, description = "The key, with its text.", body = wire::NewScopedKey))
)]
pub(crate) async fn create(
    app: Service,
    caller: Caller,
    body: JsonBody<wire::CreateScopedKey>,
) -> Result<Changed, ApiError> {
    let (agent, label) = body.0.parse()?;
    Ok(Changed(app.create_key(&caller.0, &agent, label).await?))
}
