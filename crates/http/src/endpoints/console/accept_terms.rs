//! `PATCH /v1/auth/terms`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody},
    reply::Changed,
};

/// Accepts the current terms for the organization that the session is switched to.
///
/// If `tos_version` is not the current version, the answer is 409 `tos_version_stale`. Every acceptance is recorded.
#[utoipa::path(
    patch,
    path = "/v1/auth/terms",
    operation_id = "acceptTermsInConsole",
    tag = "Console",
    request_body = wire::AcceptTerms,
    responses((status = 200, description = "The terms are accepted.", body = wire::TermsAccepted))
)]
pub(crate) async fn accept_terms(
    app: Service,
    caller: Caller,
    body: JsonBody<wire::AcceptTerms>,
) -> Result<Changed<wire::TermsAccepted>, ApiError> {
    Ok(Changed(app.accept_terms(&caller.0, &body.0.parse()?).await?))
}
